internal import RPC
internal import Synchronization

/// Limits the calls whose cost grows with the history of a customer or with the number of customers: each caller runs
/// a few of them at a time, some more wait in order, and further ones are rejected.
///
/// Each call ends at its deadline, whether it waits or runs. Its task is cancelled then, which stops its reads.
final class ExpensiveCalls: Sendable {
  /// The limits of each caller.
  struct Limits: Sendable {
    /// The maximum number of calls that run at the same time.
    var running = 2
    /// The maximum number of calls that wait.
    var waiting = 64
    /// The maximum duration of a call without `grpc-timeout`, including its wait.
    var timeout = Duration.seconds(30)
  }

  /// A call that waits.
  private struct Waiter {
    let ticket: Ticket
    let reservation: Reservation?
    let continuation: CheckedContinuation<Result<Void, Status>, Never>
  }

  /// The identity of a call, and whether it was cancelled before it could wait.
  private final class Ticket: Sendable {
    let isAbandoned = Atomic(false)
  }

  /// The calls of one caller.
  private struct Lane {
    var running = 0
    /// The next one is the first.
    var waiting: [Waiter] = []
    /// The number of places of calls that have not begun.
    var reserved = 0

    /// The number of calls that run, wait or will begin.
    var count: Int { running + waiting.count + reserved }
  }

  /// The place of a call that has not begun. A call that takes it is not rejected; otherwise it becomes free with the object.
  final class Reservation: Sendable {
    private let calls: ExpensiveCalls
    private let caller: String
    private let isHeld = Atomic(true)

    fileprivate init(_ calls: ExpensiveCalls, _ caller: String) {
      self.calls = calls
      self.caller = caller
    }

    deinit {
      if take() { calls.release(caller) }
    }

    /// Uses the reservation up; returns whether it was not used before.
    fileprivate func take() -> Bool { isHeld.exchange(false, ordering: .relaxed) }
  }

  private let limits: Limits
  private let lanes = Mutex<[String: Lane]>([:])

  /// The same limits apply to each caller, which is known by its name.
  init(_ limits: Limits = Limits()) { self.limits = limits }

  /// Reserves a place for a call before its request is decoded, so that a rejected call costs little.
  ///
  /// - Throws: `RESOURCE_EXHAUSTED` with the reason `TOO_MANY_EXPENSIVE_CALLS`.
  func reserve(_ call: CallContext) throws(Status) -> Reservation {
    let caller = call.caller
    let isReserved = lanes.withLock { lanes in
      var lane = lanes[caller] ?? Lane()
      guard lane.count < limits.running + limits.waiting else { return false }
      lane.reserved += 1
      lanes[caller] = lane
      return true
    }
    guard isReserved else { throw Self.tooMany(limits) }
    return Reservation(self, caller)
  }

  /// Runs `body` for the caller of `call`, after earlier calls of this caller. `reservation` is one of this caller.
  ///
  /// - Throws: `RESOURCE_EXHAUSTED` with the reason `TOO_MANY_EXPENSIVE_CALLS` without running `body`;
  ///   `DEADLINE_EXCEEDED`; the error of `body`.
  func run<Value: Sendable>(
    _ call: CallContext, _ reservation: Reservation? = nil,
    _ body: @escaping @Sendable (_ deadline: ContinuousClock.Instant) async throws(Status) -> Value
  ) async throws(Status) -> Value {
    let timeout = call.timeout.map { Duration.nanoseconds($0.nanoseconds) } ?? limits.timeout
    let deadline = ContinuousClock.now.advanced(by: timeout)
    let result = await withTaskGroup(of: Result<Value, Status>?.self) { group in
      group.addTask {
        await self.result(for: call.caller, reservation) { () async throws(Status) in try await body(deadline)
        }
      }
      group.addTask {
        try? await Task.sleep(until: deadline, clock: .continuous)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    guard let result else { throw Status(Task.isCancelled ? StatusCode.cancelled : .deadlineExceeded) }
    return try result.get()
  }

  /// The number of calls that run or wait, of all callers together.
  var count: Int { lanes.withLock { $0.values.reduce(0) { $0 + $1.running + $1.waiting.count } } }

  /// Waits for a place of the caller, and frees it after `body`.
  private func result<Value: Sendable>(
    for caller: String, _ reservation: Reservation?, _ body: () async throws(Status) -> Value
  ) async -> Result<Value, Status> {
    do throws(Status) {
      try await enter(caller, reservation)
      defer { leave(caller) }
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }

  /// Waits until the caller may run another call.
  private func enter(_ caller: String, _ reservation: Reservation?) async throws(Status) {
    let ticket = Ticket()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation {
        add(Waiter(ticket: ticket, reservation: reservation, continuation: $0), of: caller)
      }
    } onCancel: {
      abandon(ticket, of: caller)
    }
    try result.get()
  }

  /// Lets a call in, queues it, or rejects it with `RESOURCE_EXHAUSTED`, by the number of calls of the same caller.
  private func add(_ waiter: Waiter, of caller: String) {
    let decision: Result<Void, Status>? = lanes.withLock { lanes in
      guard !waiter.ticket.isAbandoned.load(ordering: .relaxed) else { return .failure(Status(.cancelled)) }
      var lane = lanes[caller] ?? Lane()
      defer { lanes[caller] = lane }
      if let reservation = waiter.reservation, reservation.take() {
        lane.reserved -= 1
      } else if lane.count >= limits.running + limits.waiting {
        return .failure(Self.tooMany(limits))
      }
      if lane.running < limits.running {
        lane.running += 1
        return .success(())
      }
      lane.waiting.append(waiter)
      return nil
    }
    if let decision { waiter.continuation.resume(returning: decision) }
  }

  /// Takes a cancelled call out of the queue. A call that has not reached it yet finds its ticket abandoned.
  private func abandon(_ ticket: Ticket, of caller: String) {
    let waiter: Waiter? = lanes.withLock { lanes in
      ticket.isAbandoned.store(true, ordering: .relaxed)
      guard let index = lanes[caller]?.waiting.firstIndex(where: { $0.ticket === ticket }) else { return nil }
      return lanes[caller]?.waiting.remove(at: index)
    }
    waiter?.continuation.resume(returning: .failure(Status(.cancelled)))
  }

  /// Passes the place of a finished call to the first one that waits, or frees it.
  private func leave(_ caller: String) {
    let next: Waiter? = lanes.withLock { lanes in
      guard var lane = lanes[caller] else { return nil }
      defer { lanes[caller] = lane.count == 0 ? nil : lane }
      guard lane.waiting.isEmpty else { return lane.waiting.removeFirst() }
      lane.running -= 1
      return nil
    }
    next?.continuation.resume(returning: .success(()))
  }

  /// Frees the place of a reservation.
  private func release(_ caller: String) {
    lanes.withLock { lanes in
      guard var lane = lanes[caller] else { return }
      lane.reserved -= 1
      lanes[caller] = lane.count == 0 ? nil : lane
    }
  }

  private static func tooMany(_ limits: Limits) -> Status {
    Status(
      .resourceExhausted, reason: "TOO_MANY_EXPENSIVE_CALLS",
      "\(limits.running) expensive calls of this caller run and \(limits.waiting) wait; retry later",
      retryAfterMilliseconds: 1_000)
  }
}
