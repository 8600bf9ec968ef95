internal import AppStore
internal import HTTP
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `Check` and `BatchCheck` of one event loop over a database across a network: cached responses and cached answers
/// at once, and all misses of a tick with one query, for which the loop does not wait.
final class RemoteChecks {
  private let answers: RemoteAnswers
  private let responses: CheckResponseCache
  private let loopBarrier: LoopPositionBarrier
  private let barrier: PositionBarrier
  private let arrivals = ArrivedResponses()
  private let times: @Sendable () -> EnvironmentTimes
  /// Whether the tick has requested answers. The loader is locked to flush it, so a tick without misses leaves it alone.
  private var hasRequests = false

  init(_ answers: RemoteAnswers, responses: CheckResponseCache) {
    self.answers = answers
    self.responses = responses
    barrier = PositionBarrier(feed: answers.feed)
    loopBarrier = LoopPositionBarrier(barrier)
    times = answers.pool.times
  }

  /// Sends the requests of the tick.
  func endTick() {
    guard hasRequests else { return }
    hasRequests = false
    answers.loader.flush()
  }

  /// Answers a check from a cached response, then from the memory, and otherwise with the next query of the loop, whose
  /// completion caches the response for the loop.
  ///
  /// - Throws: `STORE_UNAVAILABLE` if the database has been away for too long, or if it is away and the memory has no
  ///   answer.
  func check(_ request: EncodedRequest<CheckRequest>, _ call: CallContext) throws(Status) -> UnaryResult {
    let times = times()
    arrivals.move(to: responses)
    guard !call.requiresPosition || loopBarrier.hasReached(call.headers) else {
      return .async(afterPosition(request.copied(), call))
    }
    let age = try answers.age(at: times)
    if let known = responses.answer(
      to: request.bytes, at: times, isKnownOnly: age.isStale, appending: CheckHandler.append)
    {
      return .reply(Self.reply(known, age))
    }
    let query = try answers.checks.query(try request.decoded())
    if let outcome = try answers.cached(query, at: times) {
      let encoded = EncodedCheck(outcome)
      if let validity = outcome.validity {
        responses.insert(encoded.cached, to: request.bytes, while: validity)
      }
      return .reply(Self.reply(encoded.complete, age))
    }
    let (pending, bytes) = (PendingResult(), Array(request.bytes))
    hasRequests = true
    try answers.request(query.key) { [answers, arrivals] loaded in
      pending.complete(
        Self.result(of: query, call, loaded, answers) { outcome in
          let encoded = EncodedCheck(outcome)
          if let validity = outcome.validity { arrivals.add(encoded.cached, to: bytes, while: validity) }
          return Self.reply(encoded.complete, age)
        })
    }
    return .later(pending)
  }

  /// Answers with loaded answers at once, or otherwise as a task.
  private static func result(
    of query: CheckEvaluation.Query, _ call: CallContext, _ loaded: PendingAnswers.Loaded,
    _ answers: RemoteAnswers, _ reply: @escaping @Sendable (CheckEvaluation.Outcome) -> Reply
  ) -> UnaryResult {
    do throws(Status) {
      switch try answers.answer(query, loaded) {
      case .complete(let outcome): return .reply(reply(outcome))
      case .incomplete(let isExpensive):
        return .async { () async throws(Status) in
          reply(try await answers.pool.outcome(of: query, call, isExpensive: isExpensive))
        }
      }
    } catch {
      return .failure(error)
    }
  }

  private static func reply(_ message: [UInt8], _ age: RemoteAnswers.Age) -> Reply {
    var reply = Reply(message)
    reply.mark(age)
    return reply
  }

  /// Waits for the required position and then reads the primary.
  private func afterPosition(_ request: CopiedRequest<CheckRequest>, _ call: CallContext) -> UnaryWork {
    { [answers, barrier] () async throws(Status) in
      try await barrier.wait(for: call)
      let query = try answers.checks.query(try request.decoded())
      let pending = try answers.request(query.key)
      answers.loader.flush()
      return Reply(EncodedCheck(try await answers.answer(query, pending, call)).complete)
    }
  }
}

// Batches.
extension RemoteChecks {
  /// One check of a batch. Many batches may wait for the database, so a part keeps neither a decoded response, which has room
  /// for all fields, nor the app of a query.
  private enum Part: Sendable {
    /// The result, encoded as a `BatchCheckResponse`. The concatenated messages are the response.
    case done([UInt8])
    case pending(entitlement: String, CustomerKey, PendingAnswers)
  }

  /// Answers a large batch on any thread: a task decodes it, in its reserved place.
  var largeBatch: Method.AsyncHandler {
    { [answers, barrier, times] bytes, call throws(Status) in
      let request = EncodedRequest<BatchCheckRequest>(bytes: bytes)
      _ = try request.validCount()
      let (copy, reservation) = (request.copied(), try answers.pool.expensiveCalls.reserve(call))
      return { () async throws(Status) in
        if call.requiresPosition { try await barrier.wait(for: call) }
        return try await answers.pool.expensiveCalls.run(call, reservation) { _ throws(Status) in
          let times = times()
          let age = try answers.age(at: times)
          let parts = Self.parts(try copy.decoded(), answers, at: times)
          answers.loader.flush()
          return await Self.reply(parts, answers, call, age)
        }
      }
    }
  }

  /// Answers a batch.
  func batchCheck(
    _ request: EncodedRequest<BatchCheckRequest>, _ call: CallContext, isLarge: Bool
  ) throws(Status) -> UnaryResult {
    guard !isLarge, !call.requiresPosition || loopBarrier.hasReached(call.headers) else {
      return .async(try largeBatch(request.bytes, call))
    }
    let times = times()
    let age = try answers.age(at: times)
    hasRequests = true
    let parts = Self.parts(try request.decoded(), answers, at: times)
    return .async { [answers] () async throws(Status) in await Self.reply(parts, answers, call, age) }
  }

  /// Answers the checks that need no query, and begins one for each of the others: they share the queries of the
  /// tick.
  private static func parts(
    _ request: BatchCheckRequest, _ answers: RemoteAnswers, at times: EnvironmentTimes
  ) -> [Part] {
    request.checks.map { check in
      do throws(Status) {
        let query = try answers.checks.query(check)
        if let outcome = try answers.cached(query, at: times) {
          return .done(encoded(.response(outcome.response)))
        }
        return .pending(entitlement: query.entitlement, query.key, try answers.request(query.key))
      } catch {
        return .done(encoded(.error(GoogleRPC.Status(error))))
      }
    }
  }

  /// Waits for the queries in order. A check that fails has its own status, and the call succeeds.
  private static func reply(
    _ parts: [Part], _ answers: RemoteAnswers, _ call: CallContext, _ age: RemoteAnswers.Age
  ) async -> Reply {
    var message: [UInt8] = []
    for part in parts {
      switch part {
      case .done(let result): message += result
      case .pending(let entitlement, let customer, let pending):
        do throws(Status) {
          let query = try answers.checks.query(entitlement, of: customer)
          message += encoded(.response(try await answers.answer(query, pending, call).response))
        } catch {
          message += encoded(.error(GoogleRPC.Status(error)))
        }
      }
    }
    return reply(message, age)
  }

  private static func encoded(_ outcome: CheckResult.Outcome) -> [UInt8] {
    var result = CheckResult()
    result.outcome = outcome
    var response = BatchCheckResponse()
    response.results = [result]
    return response.encodedBytes()
  }
}
