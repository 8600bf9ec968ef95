import Platform
import Synchronization
import Testing

@Suite("Deferred work of background threads") struct DeferredWorkTests {
  /// Runs five pieces of work on one thread, each of which defers an entry, and returns the order of all.
  private func order(ofWork count: Int) -> [String] {
    let threads = BackgroundThreads(count: 1)
    let entries = Mutex<[String]>([])
    // All work is added before the first piece ends.
    threads.sync {
      for number in 1...count {
        threads.async {
          entries.withLock { $0.append("work \(number)") }
          threads.whenIdle { entries.withLock { $0.append("deferred \(number)") } }
        }
      }
    }
    // Deferred work of the last pieces runs before this one's own.
    threads.sync { threads.whenIdle { entries.withLock { $0.append("end") } } }
    while entries.withLock({ $0.last != "end" }) { threads.sync {} }
    return entries.withLock { $0 }
  }

  @Test("Deferred work runs once no other work waits")
  func idle() {
    let order = order(ofWork: 3)
    #expect(order == ["work 1", "work 2", "work 3", "deferred 1", "deferred 2", "deferred 3", "end"])
  }

  @Test("Deferred work waits for a few pieces of other work only")
  func busy() throws {
    let order = order(ofWork: 100)
    let first = try #require(order.firstIndex(of: "deferred 1"))
    #expect(first < 20)
    #expect(order.count == 201 && Set(order).count == 201)
  }

  @Test("Work that is deferred while no thread runs starts one")
  func unstarted() async {
    let threads = BackgroundThreads(count: 1)
    await withCheckedContinuation { done in threads.whenIdle { done.resume() } }
  }
}
