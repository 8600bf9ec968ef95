internal import AppStore
internal import Callers
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.EntitlementService` except `Check` and `BatchCheck`, which ``CheckHandler`` implements.
struct EntitlementServiceHandler: EntitlementServiceMethods {
  let context: ServiceContext
  /// The stream of `Watch`. The segment service has a separate one.
  let eventStream: EventStream

  init(_ context: ServiceContext) {
    self.context = context
    eventStream = EventStream(context)
  }
}

extension EventStream {
  init(_ context: ServiceContext) {
    self.init(
      broadcaster: context.streams.broadcaster, eventLog: EventLogReader(store: context.store),
      catalog: context.catalog, erasedCustomerID: context.ledger.erasedCustomerID,
      positionTokens: context.positions.tokens, barrier: PositionBarrier(feed: context.store.feed),
      clocks: context.ledger.clocks)
  }
}

// One customer: the current state and its explanation.
extension EntitlementServiceHandler {
  /// Returns the parts of the customer's state that the read mask includes, from one snapshot. An unknown customer is
  /// no error: it has no facts. The id of another customer in a token conflict needs the role `operate`.
  ///
  /// - Throws: `UNKNOWN_APP`, `WRONG_ENVIRONMENT`, and the errors of ``ReadMask``.
  func getCustomer(
    _ request: GetCustomerRequest, _ call: CallContext
  ) async throws(Status) -> GetCustomerResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let mayOperate = call.hasRole(.operate)
    let mask = try ReadMask(request.readMask, of: GetCustomerResponse.self)
    let response = try await context.read(about: key, call) {
      reader throws(StoreError) -> GetCustomerResponse in
      let times = context.ledger.clocks.times()
      var response = try GetCustomerResponse(
        try reader.facts(of: key) ?? CustomerFacts(), of: key, in: app,
        evaluatedAt: times[environment], mask
      ) { status throws(StoreError) in try reader.evidence(deciding: status, of: key) }
      if mask.includes("sequence") { response.sequence = try reader.lastSequence(of: key) }
      if mask.includes("token_conflicts") {
        response.tokenConflicts = try reader.tokenConflicts(of: key, in: app).map { conflict in
          Wire.TokenConflict.with {
            $0.originalTransactionId = conflict.line.lineID
            if mayOperate { $0.tokenCustomerId = conflict.tokenOwner }
          }
        }
      }
      if mask.includes("consumption_consent") {
        response.consumptionConsent = try reader.consent(of: key).map(Wire.ConsumptionConsent.init)
      }
      try response.addHints(about: key, in: app, at: times, mask, reader)
      return response
    }
    CallScope.show(response.tokenConflicts.map(\.tokenCustomerId))
    return response
  }

  /// Explains the answer at `as_of`, by default now. With `known_at`, only facts recorded until then count. For a past
  /// instant without it, the response also has the later records that changed the answer about that instant.
  ///
  /// - Throws: `UNKNOWN_ENTITLEMENT` for one that the catalog of the app does not have.
  func explain(_ request: ExplainRequest, _ call: CallContext) async throws(Status) -> ExplainResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.entitlement(request.entitlement, of: app)
    let knownAt = try request.knownAt.map { time throws(Status) in try Instant(time, "known_at") }
    let now = context.now(in: environment)
    let asOf = try request.asOf.map { time throws(Status) in try Instant(time, "as_of") }
    let instant = asOf ?? now
    CallScope.ask(asOf: asOf, knownAt: knownAt)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let page = try ExplanationPage(request, context.pageTokens.page(request))
    return try await context.readExpensively(call) { reader throws(StoreError) in
      // A customer without facts has no entitlements.
      var facts = CustomerFacts()
      var changes: [Ledger.LaterChange] = []
      if let knownAt {
        facts = try FactHistory(of: key, in: reader).facts(knownAt: knownAt)
      } else if instant < now {
        let past = try PastAnswer(
          FactHistory(of: key, in: reader), entitlement: request.entitlement, in: app, at: instant, reader)
        (facts, changes) = (past.facts, past.changes)
      } else {
        facts = try reader.facts(of: key) ?? facts
      }
      let explanation = Explanation(facts, entitlement: request.entitlement, in: app, at: instant)
      var sources = FactProvenance(of: key, in: reader)
      return try ExplainResponse(
        explanation, page, entitlement: request.entitlement, in: app, environment: environment, at: instant,
        changes: changes
      ) { fact throws(StoreError) in try sources.evidence(stating: fact) }
    }
  }
}
