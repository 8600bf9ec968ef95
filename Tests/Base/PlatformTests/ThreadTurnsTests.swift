import Foundation
import Platform
import Testing

/// On threads of their own, since what a thread asked for stays with it.
struct ThreadTurnsTests {
  @Test("A thread with long turns is behind the others")
  func longTurns() async {
    let usual = await onThread { niceness() }
    let found = await onThread {
      ThreadTurns.takeLong()
      return niceness()
    }
    #expect(found == max(usual, 19))
  }

  @Test("A thread with short turns takes no more than its share")
  func shortTurns() async {
    let usual = await onThread { niceness() }
    let found = await onThread {
      ThreadTurns.takeShort()
      return niceness()
    }
    #expect(found == usual)
  }

  @Test("What a thread asked for first counts")
  func theFirstCounts() async {
    let usual = await onThread { niceness() }
    let found = await onThread {
      ThreadTurns.takeShort()
      ThreadTurns.takeLong()
      return niceness()
    }
    #expect(found == usual)
  }
}

/// Of the calling thread.
private func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { done in
    Thread { done.resume(returning: body()) }.start()
  }
}
