import Foundation
import Platform
import Testing

/// Each test uses new threads, because a thread keeps its priority.
struct ThreadPriorityTests {
  @Test("A background thread has the lowest niceness weight")
  func background() async {
    let usual = await onThread { niceness() }
    let found = await onThread {
      ThreadPriority.setBackground()
      return niceness()
    }
    #expect(found == max(usual, 19))
  }

  @Test("An interactive thread keeps its niceness")
  func interactive() async {
    let usual = await onThread { niceness() }
    let found = await onThread {
      ThreadPriority.setInteractive()
      return niceness()
    }
    #expect(found == usual)
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

/// Returns the niceness of the calling thread.
private func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { done in
    Thread { done.resume(returning: body()) }.start()
  }
}
