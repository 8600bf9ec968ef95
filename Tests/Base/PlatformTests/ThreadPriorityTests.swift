import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Platform

/// Each test uses new threads, because a thread keeps its priority.
struct ThreadPriorityTests {
  @Test("Interactive and yielding threads keep their niceness")
  func usual() async {
    let usual = await onThread { niceness() }
    for setPriority in [ThreadPriority.setInteractive, ThreadPriority.setYielding] {
      let found = await onThread {
        setPriority()
        return niceness()
      }
      #expect(found == usual)
    }
  }

  @Test("The first priority of a thread stays")
  func first() async {
    let usual = await onThread { niceness() }
    let found = await onThread {
      ThreadPriority.setInteractive()
      ThreadPriority.setBackground()
      return niceness()
    }
    #expect(found == usual)
  }
}

struct BackgroundThreadsTests {
  @Test("Background threads have the lowest weight, and each runs its work in order")
  func order() {
    let threads = BackgroundThreads(count: 1)
    let done = Mutex<[Int]>([])
    let found = Mutex<Int32>(0)
    for number in 0..<1_000 { threads.async { done.withLock { $0.append(number) } } }
    threads.sync { found.withLock { $0 = niceness() } }
    #expect(done.withLock { $0 } == Array(0..<1_000))
    #expect(found.withLock { $0 } == 19)
  }

  @Test("At most the given number of threads run at the same time")
  func bound() async {
    let threads = BackgroundThreads(count: 3)
    let running = Running()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask(executorPreference: threads) { running.work() } }
    }
    #expect(running.count.withLock { $0.now == 0 && (1...3).contains($0.most) })
  }

  private final class Running: Sendable {
    let count = Mutex((now: 0, most: 0))

    func work() {
      count.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      usleep(100)
      count.withLock { $0.now -= 1 }
    }
  }

  @Test("A task that prefers background threads returns to the usual ones at its end")
  func preference() async {
    let threads = BackgroundThreads(count: 2)
    let usual = await onThread { niceness() }
    let inside = await withTaskExecutorPreference(threads) {
      await Task.yield()
      return niceness()
    }
    #expect(inside == 19)
    #expect(niceness() == usual)
  }

  @Test("Queued work is done after the threads are released")
  func release() async {
    let running = Running()
    let ended = DispatchSemaphore(value: 0)
    do {
      let threads = BackgroundThreads(count: 2)
      for _ in 0..<100 {
        threads.async {
          running.work()
          ended.signal()
        }
      }
    }
    for _ in 0..<100 { await onThread { ended.wait() } }
    #expect(running.count.withLock { $0.now } == 0)
  }
}

/// Returns the niceness of the calling thread.
private func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { done in
    Thread { done.resume(returning: body()) }.start()
  }
}
