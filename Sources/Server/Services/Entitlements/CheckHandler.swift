internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `Check` and `BatchCheck` of `entitled.v1.EntitlementService`, the hot path. One instance belongs to one
/// event loop, because its reader and its cache do.
struct CheckHandler: EntitlementServiceEventLoopMethods {
  private let reader: EventLoopReader
  private let changes: CustomerVersions
  private let catalog: CurrentCatalog
  private let answers: CheckResponseCache
  private let now: @Sendable () -> Instant

  /// `cacheBytes` is the maximum memory of cached responses.
  init(
    reader: EventLoopReader, changes: CustomerVersions, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant, cacheBytes: Int
  ) {
    self.reader = reader
    self.changes = changes
    self.catalog = catalog
    self.now = now
    answers = CheckResponseCache(changes: changes, catalog: catalog, byteLimit: cacheBytes)
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
    GoogleProtobuf.Timestamp(now).append(asField: 13, to: &response)
  }

  private func check(
    _ request: CheckRequest, at now: Instant
  ) throws(Status) -> (response: CheckResponse, validity: CheckResponseCache.Validity?) {
    let generation = catalog.generation
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.entitlement(request.entitlement, of: app)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let answer: Answer
    let seen: UInt64
    do throws(StoreError) {
      let reader = try self.reader.opened()
      seen = try reader.snapshotVersion()
      answer = try Self.answer(to: request.entitlement, of: key, in: app, at: now, reader)
    } catch {
      throw Status(error)
    }
    let response = CheckResponse(
      answer.status, of: request.entitlement, in: app, environment: environment,
      evidence: answer.evidenceID, evaluatedAt: now)
    guard answer.endIsKnown else { return (response, nil) }
    // Time changes the days left in the advice too.
    let end = [answer.end, answer.status.daysLeftChange(after: now)].compactMap(\.self).min()
    let validity = CheckResponseCache.Validity(
      from: now, until: end, snapshotVersion: seen, customer: changes.slot(of: key),
      catalogGeneration: generation)
    return (response, validity)
  }

  private struct Answer {
    let status: EntitlementStatus
    /// Whether ``end`` is the time until which the status holds unless the facts change.
    let endIsKnown: Bool
    /// `nil`: no expiry.
    let end: Instant?
    /// The evidence of the deciding fact.
    let evidenceID: EvidenceID?
  }

  /// The precomputed answer, or the result of the rules if it is missing or stale.
  private static func answer(
    to entitlement: String, of key: CustomerKey, in app: AppDefinition, at now: Instant,
    _ reader: any CheckReader
  ) throws(StoreError) -> Answer {
    let stored = try reader.answer(to: entitlement, of: key, under: app.fingerprint, at: now)
    if case .precomputed(let answer) = stored {
      return Answer(
        status: answer.status, endIsKnown: true, end: answer.end, evidenceID: answer.evidenceID)
    }
    let facts = stored == .stale ? try reader.facts(of: key) : nil
    let status = evaluate(facts ?? CustomerFacts(), entitlement: entitlement, in: app, at: now)
    let evidence = try reader.evidence(deciding: status, of: key)
    return Answer(status: status, endIsKnown: facts == nil, end: nil, evidenceID: evidence)
  }

  func batchCheck(_ request: EncodedRequest<BatchCheckRequest>, _ call: CallContext) throws(Status) -> Reply {
    let request = try request.decoded()
    guard request.checks.count <= Self.batchLimit else {
      throw Status(
        .invalidArgument, reason: "TOO_MANY_CHECKS",
        "a batch takes at most \(Self.batchLimit) checks, this one has \(request.checks.count)",
        field: "checks")
    }
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
    return Reply(response)
  }

  private static let batchLimit = 1_000
}
