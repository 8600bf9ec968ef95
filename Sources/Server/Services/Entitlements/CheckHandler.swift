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
  private let store: any EntitlementStore
  private let expensiveCalls: ExpensiveCalls
  private let answers: CheckResponseCache
  private let now: @Sendable () -> Instant

  /// `cacheBytes` is the maximum memory of cached responses.
  init(
    reader: EventLoopReader, store: any EntitlementStore, catalog: CurrentCatalog,
    expensiveCalls: ExpensiveCalls = ExpensiveCalls(), now: @escaping @Sendable () -> Instant, cacheBytes: Int
  ) {
    self.reader = reader
    self.store = store
    self.expensiveCalls = expensiveCalls
    self.now = now
    checks = CheckEvaluation(changes: store.changes, catalog: catalog)
    answers = CheckResponseCache(changes: store.changes, catalog: catalog, byteLimit: cacheBytes)
  }

  /// Ends the snapshot of the current tick of the event loop.
  func endTick() { reader.endTick() }

  /// Returns the cached response to these bytes, or a new one if it is missing or no longer valid.
  func check(_ request: EncodedRequest<CheckRequest>, _ call: CallContext) throws(Status) -> Reply {
    let now = now()
    if let known = answers.answer(to: request.bytes, at: now, appending: { Self.append(now, to: &$0) }) {
      return Reply(known)
    }
    var (response, validity) = try check(try request.decoded(), at: now)
    response.evaluatedAt = nil
    var bytes = response.encodedBytes()
    if let validity { answers.insert(bytes, to: request.bytes, while: validity) }
    Self.append(now, to: &bytes)
    return Reply(bytes)
  }

  /// `CheckResponse.evaluated_at`, the only field that differs between two responses to the same request.
  private static func append(_ now: Instant, to response: inout [UInt8]) {
    GoogleProtobuf.Timestamp(now).append(asField: 3, to: &response)
  }

  private func check(_ request: CheckRequest, at now: Instant) throws(Status) -> CheckEvaluation.Outcome {
    let query = try checks.query(request)
    do throws(StoreError) {
      return try checks.answer(to: query, at: now, try reader.opened())
    } catch {
      throw Status(error)
    }
  }

  /// Answers a small batch at once. A large one runs on the reader pool, because it would delay all calls of the
  /// event loop.
  func batchCheck(
    _ request: EncodedRequest<BatchCheckRequest>, _ call: CallContext
  ) throws(Status) -> UnaryResult {
    let request = try request.decoded()
    guard request.checks.count <= Self.batchLimit else {
      throw Status(
        .invalidArgument, reason: "TOO_MANY_CHECKS",
        "a batch takes at most \(Self.batchLimit) checks, this one has \(request.checks.count)",
        field: "checks")
    }
    guard request.checks.count <= Self.eventLoopBatchLimit else { return .async(work(request, call)) }
    let now = now()
    var response = BatchCheckResponse()
    response.results = request.checks.map { request in
      .with { result in
        do throws(Status) {
          result.outcome = .response(try check(request, at: now).response)
        } catch {
          result.outcome = .error(GoogleRPC.Status(error))
        }
      }
    }
    return .reply(Reply(response))
  }

  /// A batch as one read of the pool.
  private func work(_ request: BatchCheckRequest, _ call: CallContext) -> UnaryWork {
    { [checks, store, expensiveCalls, now] () async throws(Status) in
      try await expensiveCalls.run(call) { deadline throws(Status) in
        do throws(StoreError) {
          return try await store.read(deadline: deadline) { snapshot throws(StoreError) in
            Reply(try checks.response(to: request.checks, at: now(), snapshot))
          }
        } catch {
          throw Status(error)
        }
      }
    }
  }

  private static let batchLimit = 1_000
  /// The largest batch on the event loop: it takes about as long as a dozen calls of `Check`.
  private static let eventLoopBatchLimit = 64
}
