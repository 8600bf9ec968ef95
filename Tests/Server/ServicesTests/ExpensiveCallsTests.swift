import HTTP
import RPC
import Synchronization
import Testing

@testable import Services

@Suite("Limits of expensive calls")
struct ExpensiveCallsTests {
  @Test("A caller runs no more calls at a time than the limit, and the others run after them")
  func queue() async throws {
    let calls = ExpensiveCalls(.init(running: 2, waiting: 8, timeout: .seconds(3600)))
    let counts = Counts()
    let done = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<10 {
        group.addTask {
          try await calls.run(call(of: "ana")) { _ throws(Status) in
            let now = counts.running.add(1, ordering: .relaxed).newValue
            counts.most.max(now, ordering: .relaxed)
            await Task.yield()
            counts.running.subtract(1, ordering: .relaxed)
            return number
          }
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(done == Set(0..<10))
    #expect((1...2).contains(counts.most.load(ordering: .relaxed)))
    #expect(calls.count == 0)
  }

  @Test("A call beyond the queue of its caller fails with RESOURCE_EXHAUSTED; another caller is not affected")
  func overload() async throws {
    let calls = ExpensiveCalls(.init(running: 1, waiting: 1, timeout: .seconds(3600)))
    try await withBlocked(calls, "ana") {
      let waiting = Task { try await calls.run(call(of: "ana")) { _ throws(Status) in 1 } }
      while calls.count < 2 { await Task.yield() }
      let status = await failure { () async throws(Status) in
        try await calls.run(call(of: "ana")) { _ throws(Status) in 2 }
      }
      #expect(status?.code == .resourceExhausted && status?.errorInfo?.reason == "TOO_MANY_EXPENSIVE_CALLS")
      let other = try await calls.run(call(of: "ben")) { _ throws(Status) in 3 }
      #expect(other == 3)
      waiting.cancel()
      await #expect(throws: Status.self) { try await waiting.value }
    }
    #expect(calls.count == 0)
  }

  @Test(
    "A call is rejected before its request is decoded; a reserved place is taken, or free again without its call"
  )
  func reservation() async throws {
    let calls = ExpensiveCalls(.init(running: 1, waiting: 1, timeout: .seconds(3600)))
    var places = [try calls.reserve(call(of: "ana")), try calls.reserve(call(of: "ana"))]
    #expect(isFull(calls, "ana"))
    let refused = await failure { () async throws(Status) in
      try await calls.run(call(of: "ana")) { _ throws(Status) in 1 }
    }
    #expect(refused?.errorInfo?.reason == "TOO_MANY_EXPENSIVE_CALLS")
    _ = try calls.reserve(call(of: "ben"))

    let place = places.removeLast()
    let result = try await calls.run(call(of: "ana"), place) { _ throws(Status) in 2 }
    #expect(result == 2)
    let again = try calls.reserve(call(of: "ana"))
    #expect(isFull(calls, "ana"))
    places = []
    let third = try await calls.run(call(of: "ana"), again) { _ throws(Status) in 3 }
    #expect(third == 3 && calls.count == 0)
    _ = [try calls.reserve(call(of: "ana")), try calls.reserve(call(of: "ana"))]
  }

  @Test("A call past its timeout fails with DEADLINE_EXCEEDED while it waits, and while it runs")
  func deadline() async throws {
    let calls = ExpensiveCalls(.init(running: 1, waiting: 1, timeout: .milliseconds(20)))
    try await withBlocked(calls, "ana") {
      let waiting = await failure { () async throws(Status) in
        try await calls.run(call(of: "ana", timeout: .milliseconds(20))) { _ throws(Status) in 1 }
      }
      #expect(waiting?.code == .deadlineExceeded)
    }
    let counts = Counts()
    let running = await failure { () async throws(Status) in
      try await calls.run(call(of: "ana")) { _ throws(Status) in
        try? await Task.sleep(for: .seconds(3600))
        counts.stopped.add(Task.isCancelled ? 1 : 0, ordering: .relaxed)
        return 1
      }
    }
    #expect(running?.code == .deadlineExceeded && counts.stopped.load(ordering: .relaxed) == 1)
    #expect(calls.count == 0)
  }

  private final class Counts: Sendable {
    let running = Atomic(0)
    let most = Atomic(0)
    let stopped = Atomic(0)
  }

  /// Runs `body` while one call of a caller runs.
  private func withBlocked(_ calls: ExpensiveCalls, _ caller: String, _ body: () async throws -> Void)
    async throws
  {
    let blocker = Task {
      try await calls.run(call(of: caller, timeout: .seconds(3600))) { _ throws(Status) in
        try? await Task.sleep(for: .seconds(3600))
      }
    }
    while calls.count == 0 { await Task.yield() }
    try await body()
    blocker.cancel()
    _ = await blocker.result
  }

  private func call(of caller: String, timeout: Duration? = nil) -> CallContext {
    let nanoseconds = timeout.map { Int64($0 / .nanoseconds(1)) }
    var context = CallContext(headers: HeaderFields(), timeout: nanoseconds.map(Timeout.init(nanoseconds:)))
    context.caller = caller
    return context
  }

  private func isFull(_ calls: ExpensiveCalls, _ caller: String) -> Bool {
    do throws(Status) {
      _ = try calls.reserve(call(of: caller))
      return false
    } catch {
      return true
    }
  }

  private func failure<Value>(_ body: () async throws(Status) -> Value) async -> Status? {
    do throws(Status) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }
}
