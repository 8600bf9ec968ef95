internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// Answers `Check` and `BatchCheck` with a read of the store's reader pool, away from the event loops.
struct PooledChecks: Sendable {
  let checks: CheckEvaluation
  let store: any EntitlementStore
  /// The limits of checks about large customers, and of batches.
  let expensiveCalls: ExpensiveCalls
  /// The clocks of the environments.
  let times: @Sendable () -> EnvironmentTimes

  /// Answers a check whose facts must be evaluated; within the limits of ``ExpensiveCalls`` if that takes long.
  func outcome(
    of query: CheckEvaluation.Query, _ call: CallContext, isExpensive: Bool
  ) async throws(Status) -> CheckEvaluation.Outcome {
    guard isExpensive else { return try await outcome(of: query, .check, until: .now + Self.promptTimeout) }
    return try await expensiveCalls.run(call) { deadline throws(Status) in
      try await outcome(of: query, .interactive, until: deadline)
    }
  }

  /// Answers one check on the pool of readers, at the time when the read begins.
  private func outcome(
    of query: CheckEvaluation.Query, _ priority: ReadPriority, until deadline: ContinuousClock.Instant?
  ) async throws(Status) -> CheckEvaluation.Outcome {
    do throws(StoreError) {
      return try await store.read(priority, deadline: deadline) {
        [checks, times] snapshot throws(StoreError) in
        try checks.answer(to: query, at: times(), snapshot)
      }
    } catch {
      throw Status(error)
    }
  }

  /// The time for the facts of a customer that is not large.
  private static let promptTimeout = Duration.seconds(10)

  /// Answers a check that may evaluate the facts of a large customer.
  func answer(_ request: CheckRequest, _ call: CallContext) async throws(Status) -> Reply {
    let query = try checks.query(request)
    return try await expensiveCalls.run(call) { deadline throws(Status) in
      do throws(StoreError) {
        return try await store.read(deadline: deadline) { [checks, times] snapshot throws(StoreError) in
          Reply(try checks.answer(to: query, at: times(), snapshot).response)
        }
      } catch {
        throw Status(error)
      }
    }
  }

  /// `BatchCheck` as a task, for callers without an event loop.
  var batchCheck: Method { Method(path: Self.batchPath, handler: .asyncUnary(batch)) }

  /// The path of `BatchCheck`, by which event loops hand large batches over.
  static let batchPath = "/entitled.v1.EntitlementService/BatchCheck"

  /// Reserves a place for a batch, and returns the work that answers it. The request is copied encoded.
  ///
  /// - Throws: `TOO_MANY_CHECKS`, `TOO_MANY_EXPENSIVE_CALLS`.
  func batch(_ bytes: UnsafeRawBufferPointer, _ call: CallContext) throws(Status) -> UnaryWork {
    let request = EncodedRequest<BatchCheckRequest>(bytes: bytes)
    _ = try request.validCount()
    let (reservation, copy) = (try expensiveCalls.reserve(call), request.copied())
    return { [self] () async throws(Status) in try await answer(copy, call, reservation) }
  }

  /// Answers a batch in its reserved place.
  private func answer(
    _ request: CopiedRequest<BatchCheckRequest>, _ call: CallContext,
    _ reservation: ExpensiveCalls.Reservation
  ) async throws(Status) -> Reply {
    try await expensiveCalls.run(call, reservation) { deadline throws(Status) in
      let request = try request.decoded()
      do throws(StoreError) {
        return try await store.read(deadline: deadline) { [checks, times] snapshot throws(StoreError) in
          Reply(try checks.response(to: request.checks, at: times(), snapshot))
        }
      } catch {
        throw Status(error)
      }
    }
  }
}

extension EncodedRequest<BatchCheckRequest> {
  /// The number of the field `BatchCheckRequest.checks`.
  private static var checksField: UInt32 { 1 }
  private static var limit: Int { 1_000 }

  /// The number of checks.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the reason `TOO_MANY_CHECKS`. A malformed request fails when it is decoded.
  func validCount() throws(Status) -> Int {
    let count =
      if let count = self.count(ofField: Self.checksField) { count } else { try decoded().checks.count }
    guard count <= Self.limit else {
      throw Status(
        .invalidArgument, reason: "TOO_MANY_CHECKS",
        "a batch takes at most \(Self.limit) checks, this one has \(count)", field: "checks")
    }
    return count
  }
}
