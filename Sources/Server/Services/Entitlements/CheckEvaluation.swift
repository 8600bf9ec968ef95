internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// Answers the requests of `Check` and `BatchCheck` from a reader, on any thread.
struct CheckEvaluation: Sendable {
  let changes: CustomerVersions
  let catalog: CurrentCatalog

  /// A valid request and the catalog that it is answered with.
  struct Query: Sendable {
    let entitlement: String
    let key: CustomerKey
    let app: AppDefinition
    let environment: AppStore.Environment
    let catalogGeneration: UInt64
  }

  /// A response, and how long it may be cached; `nil`: not at all.
  typealias Outcome = (response: CheckResponse, validity: CheckResponseCache.Validity?)

  /// Checks the fields of a request.
  func query(_ request: CheckRequest) throws(Status) -> Query {
    let generation = catalog.generation
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.entitlement(request.entitlement, of: app)
    return Query(
      entitlement: request.entitlement,
      key: CustomerKey(appID: app.id, environment: environment, customerID: request.customerId), app: app,
      environment: environment, catalogGeneration: generation)
  }

  func answer(
    to query: Query, at now: Instant, _ reader: any AnswerReader
  ) throws(StoreError) -> Outcome {
    let seen = try reader.snapshotVersion()
    let answer = try Self.answer(to: query.entitlement, of: query.key, in: query.app, at: now, reader)
    let entitlement = Entitlement(
      answer.status, of: query.entitlement, in: query.app, evidence: answer.evidenceID, at: now)
    let response = CheckResponse(entitlement, environment: query.environment, evaluatedAt: now)
    guard answer.endIsKnown else { return (response, nil) }
    // Time changes the days left in the advice too.
    let end = [answer.end, answer.status.daysLeftChange(after: now)].compactMap(\.self).min()
    let validity = CheckResponseCache.Validity(
      from: now, until: end, snapshotVersion: seen, customer: changes.slot(of: query.key),
      catalogGeneration: query.catalogGeneration)
    return (response, validity)
  }

  /// Answers all requests from one snapshot. An invalid request has a status in its place.
  func response(
    to requests: [CheckRequest], at now: Instant, _ reader: any AnswerReader
  ) throws(StoreError) -> BatchCheckResponse {
    var response = BatchCheckResponse()
    response.results.reserveCapacity(requests.count)
    for request in requests {
      var result = CheckResult()
      switch Result(catching: { () throws(Status) in try query(request) }) {
      case .success(let query): result.outcome = .response(try answer(to: query, at: now, reader).response)
      case .failure(let status): result.outcome = .error(GoogleRPC.Status(status))
      }
      response.results.append(result)
    }
    return response
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
    _ reader: any AnswerReader
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
}
