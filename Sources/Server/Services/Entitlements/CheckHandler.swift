internal import AppStore
internal import Callers
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `Check` and `BatchCheck` of `entitled.v1.EntitlementService`, the hot path. One instance belongs to one
/// event loop, because its reader and its cache do.
struct CheckHandler: EntitlementServiceEventLoopMethods {
  private let reader: EventLoopReader
  private let checks: CheckEvaluation
  private let pool: PooledChecks
  private let loopBarrier: LoopPositionBarrier
  private let barrier: PositionBarrier
  private let answers: CheckResponseCache
  /// Answers instead, if the database is across a network.
  private let remote: RemoteChecks?
  /// The clocks of the environments.
  private let times: @Sendable () -> EnvironmentTimes

  /// `cacheBytes` is the maximum memory of cached responses. `loader` and `memory` are those of a store whose database
  /// is across a network; `reader` is not used then.
  init(
    reader: EventLoopReader, store: any EntitlementStore, catalog: CurrentCatalog,
    expensiveCalls: ExpensiveCalls = ExpensiveCalls(), clocks: ServiceClocks, cacheBytes: Int,
    loader: (any AnswerLoader)? = nil, memory: AnswerMemory? = nil
  ) {
    self.reader = reader
    barrier = PositionBarrier(feed: store.feed)
    loopBarrier = LoopPositionBarrier(barrier)
    times = clocks.times
    checks = CheckEvaluation(changes: store.changes, catalog: catalog)
    pool = PooledChecks(checks: checks, store: store, expensiveCalls: expensiveCalls, times: clocks.times)
    answers = CheckResponseCache(changes: store.changes, catalog: catalog, byteLimit: cacheBytes)
    remote =
      if let loader, let memory {
        RemoteChecks(
          RemoteAnswers(checks: checks, loader: loader, memory: memory, pool: pool, feed: store.feed),
          responses: answers)
      } else {
        nil
      }
  }

  /// The methods of the event loop; a large batch is answered on other threads from its first byte on.
  var loopMethods: [Method] {
    methods.map { method in
      var method = method
      if method.path == PooledChecks.batchPath { method.large = Method.reading(largeBatch) }
      return method
    }
  }

  /// Ends the snapshot of the current tick of the event loop.
  func endTick() {
    reader.endTick()
    remote?.endTick()
  }

  /// Returns the cached response to these bytes, or a new one if it is missing or no longer valid. The facts of a large
  /// customer are evaluated on the reader pool, because they would delay all calls of the event loop.
  func check(_ request: EncodedRequest<CheckRequest>, _ call: CallContext) throws(Status) -> UnaryResult {
    if let remote { return try remote.check(request, call) }
    if call.requiresPosition, !loopBarrier.hasReached(call.headers) {
      return .async(afterPosition(request.copied(), call))
    }
    let times = times()
    if let known = answers.answer(to: request.bytes, at: times, appending: Self.append) {
      return .reply(Reply(known))
    }
    let decoded = try request.decoded()
    guard let outcome = try check(decoded, at: times) else { return .async(work(decoded, call)) }
    var response = outcome.response
    let instant = response.evaluatedAt
    response.evaluatedAt = nil
    var bytes = response.encodedBytes()
    if let validity = outcome.validity { answers.insert(bytes, to: request.bytes, while: validity) }
    instant?.append(asField: Self.evaluatedAtField, to: &bytes)
    return .reply(Reply(bytes))
  }

  /// Appends `CheckResponse.evaluated_at`, the only field that differs between two responses to the same request.
  static func append(_ now: Instant, to response: inout [UInt8]) {
    GoogleProtobuf.Timestamp(now).append(asField: evaluatedAtField, to: &response)
  }

  /// `nil`: the reader pool must answer, because the facts of a large customer must be evaluated.
  private func check(
    _ request: CheckRequest, at times: EnvironmentTimes
  ) throws(Status) -> CheckEvaluation.Outcome? {
    let query = try checks.query(request)
    do throws(StoreError) {
      return try checks.quickAnswer(to: query, at: times, try reader.opened())
    } catch {
      throw Status(error)
    }
  }

  /// Answers a check as one read of the pool.
  private func work(_ request: CheckRequest, _ call: CallContext) -> UnaryWork {
    { [pool] () async throws(Status) in try await pool.answer(request, call) }
  }

  /// Answers a check from the store when this process has the position that the caller requires.
  private func afterPosition(_ request: CopiedRequest<CheckRequest>, _ call: CallContext) -> UnaryWork {
    { [barrier, pool] () async throws(Status) in
      try await barrier.wait(for: call)
      return try await pool.answer(try request.decoded(), call)
    }
  }

  /// Answers a small batch at once. A large one, and one with a check of a large customer whose facts must be
  /// evaluated, runs on the reader pool, because it would delay all calls of the event loop.
  func batchCheck(
    _ request: EncodedRequest<BatchCheckRequest>, _ call: CallContext
  ) throws(Status) -> UnaryResult {
    let count = try request.validCount()
    if let remote {
      return try remote.batchCheck(request, call, isLarge: count > Self.eventLoopBatchLimit)
    }
    let hasPosition = !call.requiresPosition || loopBarrier.hasReached(call.headers)
    guard count <= Self.eventLoopBatchLimit, hasPosition else {
      return .async(try largeBatch(request.bytes, call))
    }
    let times = times()
    var response = BatchCheckResponse()
    response.results.reserveCapacity(count)
    for check in try request.decoded().checks {
      var result = CheckResult()
      do throws(Status) {
        guard let outcome = try self.check(check, at: times) else {
          return .async(try largeBatch(request.bytes, call))
        }
        result.outcome = .response(outcome.response)
      } catch {
        result.outcome = .error(GoogleRPC.Status(error))
      }
      response.results.append(result)
    }
    return .reply(Reply(response))
  }

  /// Answers a batch as one read of the pool, on any thread. The request is decoded when it runs, because it then takes
  /// several times its bytes.
  private var largeBatch: Method.AsyncHandler {
    if let remote { return remote.largeBatch }
    return { [pool, barrier] request, call throws(Status) in
      let work = try pool.batch(request, call)
      return { () async throws(Status) in
        if call.requiresPosition { try await barrier.wait(for: call) }
        return try await work()
      }
    }
  }

  /// The number of the field `CheckResponse.evaluated_at`.
  static let evaluatedAtField: UInt32 = 3
  /// The largest batch on the event loop: it takes about as long as a dozen calls of `Check`.
  private static let eventLoopBatchLimit = 64
}
