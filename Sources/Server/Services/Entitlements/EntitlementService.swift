internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.EntitlementService`: what other services ask about a customer.
///
/// A handler reads its request, asks the store and the rules one question, and writes the answer. There
/// is one instance for each event loop, since its reader belongs to one.
struct EntitlementService {
  private let reader: any StoreReader
  private let changes: CustomerVersions
  private let catalog: CurrentCatalog
  private let answers: CheckResponseCache
  private let now: @Sendable () -> Instant

  init(
    reader: any StoreReader, changes: CustomerVersions, catalog: CurrentCatalog, answers: CheckResponseCache,
    now: @escaping @Sendable () -> Instant
  ) {
    self.reader = reader
    self.changes = changes
    self.catalog = catalog
    self.answers = answers
    self.now = now
  }

  static let name = "entitled.v1.EntitlementService"

  var methods: [Method] {
    [
      Method(path: "/\(Self.name)/Check", handler: .unary { request, _ in check(request) }),
      .unary("/\(Self.name)/BatchCheck") { (request: BatchCheckRequest, _) throws(Status) in
        try batchCheck(request)
      },
    ]
  }

  /// The answer that is remembered for these bytes, or else a new one.
  private func check(_ request: UnsafeRawBufferPointer) -> UnaryResult {
    let now = now()
    if let known = answers.answer(to: request, at: now, appending: { Self.append(now, to: &$0) }) {
      return .now(Reply(known))
    }
    do throws(Status) {
      var (response, validity) = try check(try Self.read(request), at: now)
      response.evaluatedAt = nil
      var bytes = response.encodedBytes()
      if let validity { answers.remember(bytes, to: request, while: validity) }
      Self.append(now, to: &bytes)
      return .now(Reply(bytes))
    } catch {
      return .refused(error)
    }
  }

  private static func read(_ request: UnsafeRawBufferPointer) throws(Status) -> CheckRequest {
    do throws(WireError) { return try CheckRequest.decode(request) } catch { throw Status(error) }
  }

  /// `CheckResponse.evaluated_at`, the one field that differs between two answers to the same question.
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
      seen = try reader.snapshotVersion()
      answer = try self.answer(to: request.entitlement, of: key, in: app, at: now)
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
    /// Whether ``end`` says until when the status stays the same, if nothing new is learned.
    let endIsKnown: Bool
    /// `nil`: for ever.
    let end: Instant?
    /// Where the fact that the status rests on is from.
    let evidenceID: EvidenceID?
  }

  /// The answer that was worked out when the facts were written, or else what the rules make of them now.
  private func answer(
    to entitlement: String, of key: CustomerKey, in app: AppDefinition, at now: Instant
  ) throws(StoreError) -> Answer {
    let stored = try reader.answer(to: entitlement, of: key, under: app.fingerprint, at: now)
    if case .told(let kept) = stored {
      return Answer(
        status: kept.status, endIsKnown: true, end: kept.end, evidenceID: try evidence(behind: kept, of: key))
    }
    let facts = stored == .notTold ? try reader.facts(of: key) : nil
    let status = evaluate(facts ?? CustomerFacts(), entitlement: entitlement, in: app, at: now)
    let evidence = try reader.evidence(behind: status, of: key)
    return Answer(status: status, endIsKnown: facts == nil, end: nil, evidenceID: evidence)
  }

  private func evidence(behind kept: PrecomputedAnswer, of key: CustomerKey) throws(StoreError) -> EvidenceID?
  {
    // Answers that an earlier version kept do not name it.
    guard let evidence = kept.evidenceID else { return try reader.evidence(behind: kept.status, of: key) }
    return evidence
  }

  private func batchCheck(_ request: BatchCheckRequest) throws(Status) -> BatchCheckResponse {
    guard request.checks.count <= Self.batchLimit else {
      throw Status(
        .invalidArgument, reason: "TOO_MANY_CHECKS",
        "a batch takes at most \(Self.batchLimit) checks, this one has \(request.checks.count)",
        field: "checks")
    }
    let now = now()
    return .with { response in
      response.results = request.checks.map { request in
        .with { result in
          do throws(Status) {
            result.outcome = .response(try check(request, at: now).response)
          } catch {
            result.outcome = .error(GoogleRPC.Status(error))
          }
        }
      }
    }
  }

  private static let batchLimit = 1_000
}
