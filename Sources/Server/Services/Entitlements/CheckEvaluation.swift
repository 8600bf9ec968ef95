internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// Answers the requests of `Check` and `BatchCheck` from a reader, on any thread.
struct CheckEvaluation: Sendable {
  /// The last change of each customer, against which cached responses are checked.
  let changes: CustomerVersions
  /// The catalog, which a reload replaces.
  let catalog: CurrentCatalog

  /// A valid request and the catalog that it is answered with.
  struct Query: Sendable {
    let entitlement: String
    /// The customer as the request names it.
    let key: CustomerKey
    let app: AppDefinition
    let environment: AppStore.Environment
    /// The generation from before ``app`` was read: a response that is cached under it is not valid after a reload.
    let catalogGeneration: UInt64
  }

  /// A response, and how long it may be cached; `nil`: not at all.
  typealias Outcome = (response: CheckResponse, validity: CheckResponseCache.Validity?)

  /// Checks the fields of a request.
  ///
  /// - Throws: `UNKNOWN_APP`, `WRONG_ENVIRONMENT`, `MISSING_FIELD` or `UNKNOWN_ENTITLEMENT`.
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

  /// Makes the query of a checked request again, with the present catalog: a call that waits need not keep it.
  func query(_ entitlement: String, of key: CustomerKey) throws(Status) -> Query {
    let generation = catalog.generation
    let app = try catalog.value.app(key.appID)
    try RequestValidation.entitlement(entitlement, of: app)
    return Query(
      entitlement: entitlement, key: key, app: app, environment: key.environment,
      catalogGeneration: generation)
  }

  /// Answers from all facts if there is no valid precomputed answer: for the reader pool.
  func answer(
    to query: Query, at times: EnvironmentTimes, _ reader: any AnswerReader
  ) throws(StoreError) -> Outcome {
    let (seen, now) = (try reader.snapshotVersion(), times[query.environment])
    if let answer = try Self.precomputed(query, at: now, reader) { return outcome(answer, query, seen, now) }
    let facts = try reader.facts(of: query.key) ?? CustomerFacts()
    return outcome(try Self.evaluated(facts, query, at: now, reader), query, seen, now)
  }

  /// The same without the facts of a large customer: for an event loop. `nil` if only these can answer.
  func quickAnswer(
    to query: Query, at times: EnvironmentTimes, _ reader: any CheckReader
  ) throws(StoreError) -> Outcome? {
    let (seen, now) = (try reader.snapshotVersion(), times[query.environment])
    if let answer = try Self.precomputed(query, at: now, reader) { return outcome(answer, query, seen, now) }
    guard let facts = try reader.smallFacts(of: query.key) else { return nil }
    return outcome(try Self.evaluated(facts, query, at: now, reader), query, seen, now)
  }

  /// Answers from loaded answers; `nil` if the facts must be evaluated.
  func answer(
    to query: Query, at times: EnvironmentTimes, _ loaded: LoadedAnswers
  ) throws(StoreError) -> Outcome? {
    let now = times[query.environment]
    switch loaded.content {
    case .answers(let bytes, _):
      guard
        let answer = try AnswerCoding.answer(
          in: bytes.span, to: query.entitlement, under: query.app.fingerprint, at: now)
      else { return nil }
      return outcome(Answer(answer), query, loaded.version, now)
    case .unknownCustomer:
      return outcome(Self.unknown(query, at: now), query, loaded.version, now, isKnown: false)
    case .ambiguous: return nil
    }
  }

  /// Makes the response, and says how long it is valid; an answer without a known end has no validity and is not
  /// cached.
  private func outcome(
    _ answer: Answer, _ query: Query, _ seen: UInt64, _ now: Instant, isKnown: Bool = true
  ) -> Outcome {
    let entitlement = Entitlement(
      answer.status, of: query.entitlement, in: query.app, evidence: answer.evidenceID, at: now)
    let response = CheckResponse(entitlement, environment: query.environment, evaluatedAt: now)
    guard answer.endIsKnown else { return (response, nil) }
    // Time changes the days left in the advice too.
    let end = [answer.end, answer.status.daysLeftChange(after: now)].compactMap(\.self).min()
    let validity = CheckResponseCache.Validity(
      from: now, until: end, isInSandbox: query.environment == .sandbox, isKnown: isKnown,
      snapshotVersion: seen,
      customer: changes.slot(of: query.key),
      catalogGeneration: query.catalogGeneration)
    return (response, validity)
  }

  /// Answers all requests from one snapshot. An invalid request has a status in its place.
  func response(
    to requests: [CheckRequest], at times: EnvironmentTimes, _ reader: any AnswerReader
  ) throws(StoreError) -> BatchCheckResponse {
    var response = BatchCheckResponse()
    response.results.reserveCapacity(requests.count)
    for request in requests {
      var result = CheckResult()
      switch Result(catching: { () throws(Status) in try query(request) }) {
      case .success(let query): result.outcome = .response(try answer(to: query, at: times, reader).response)
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

    init(_ status: EntitlementStatus, endIsKnown: Bool, end: Instant? = nil, evidenceID: EvidenceID?) {
      self.status = status
      self.endIsKnown = endIsKnown
      self.end = end
      self.evidenceID = evidenceID
    }

    init(_ answer: PrecomputedAnswer) {
      self.init(answer.status, endIsKnown: true, end: answer.end, evidenceID: answer.evidenceID)
    }
  }

  /// The answer about a customer without facts.
  private static func unknown(_ query: Query, at now: Instant) -> Answer {
    Answer(
      evaluate(CustomerFacts(), entitlement: query.entitlement, in: query.app, at: now), endIsKnown: true,
      evidenceID: nil)
  }

  /// The precomputed answer, or that about an unknown customer; `nil` if the facts must be evaluated.
  private static func precomputed(
    _ query: Query, at now: Instant, _ reader: any AnswerReader
  ) throws(StoreError) -> Answer? {
    switch try reader.answer(
      to: query.entitlement, of: query.key, under: query.app.fingerprint, at: now)
    {
    case .precomputed(let answer): return Answer(answer)
    case .unknownCustomer: return unknown(query, at: now)
    case .stale: return nil
    }
  }

  /// The result of the rules.
  private static func evaluated(
    _ facts: CustomerFacts, _ query: Query, at now: Instant, _ reader: any AnswerReader
  ) throws(StoreError) -> Answer {
    let status = evaluate(facts, entitlement: query.entitlement, in: query.app, at: now)
    let evidence = try reader.evidence(deciding: status, of: query.key)
    return Answer(status, endIsKnown: false, evidenceID: evidence)
  }
}
