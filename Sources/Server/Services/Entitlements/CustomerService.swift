internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `GetCustomer` and `Explain` of `entitled.v1.EntitlementService`: everything about one customer, and why.
///
/// There is one instance for each event loop, since its reader belongs to one.
struct CustomerService {
  private let reader: any StoreReader
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(reader: any StoreReader, catalog: CurrentCatalog, now: @escaping @Sendable () -> Instant) {
    self.reader = reader
    self.catalog = catalog
    self.now = now
  }

  var methods: [Method] {
    [
      .unary("/\(EntitlementService.name)/GetCustomer") { (request: GetCustomerRequest, _) throws(Status) in
        try get(request)
      },
      .unary("/\(EntitlementService.name)/Explain") { (request: ExplainRequest, _) throws(Status) in
        try explain(request)
      },
    ]
  }

  private func get(_ request: GetCustomerRequest) throws(Status) -> GetCustomerResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    return try reading { () throws(StoreError) in
      var response = try GetCustomerResponse(
        try reader.facts(of: key) ?? CustomerFacts(), of: request.customerId, in: app,
        environment: environment, evaluatedAt: now()
      ) { status throws(StoreError) in try reader.evidence(behind: status, of: key) }
      response.sequence = try reader.lastSequence(of: key)
      response.consumptionConsent = try reader.consent(of: key).map(Wire.ConsumptionConsent.init)
      return response
    }
  }

  private func explain(_ request: ExplainRequest) throws(Status) -> ExplainResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.entitlement(request.entitlement, of: app)
    let knownAt = try request.knownAt.map { moment throws(Status) in try Instant(moment, "known_at") }
    let moment = try request.asOf.map { moment throws(Status) in try Instant(moment, "as_of") } ?? now()
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    // Nothing is known of one of whom nobody has heard.
    let facts = try reading { () throws(StoreError) in
      guard let knownAt else { return try reader.facts(of: key) ?? CustomerFacts() }
      return try FactsAsOf.facts(of: key, knownAt: knownAt, in: reader)
    }
    let explanation = Explanation(facts, entitlement: request.entitlement, in: app, at: moment)
    let evidence = try reading { () throws(StoreError) in
      var sources = FactProvenance(of: key, in: reader)
      return try explanation.steps.map { step throws(StoreError) in
        try step.fact.flatMap { fact throws(StoreError) in try sources.evidence(stating: fact) }
      }
    }
    return ExplainResponse(
      explanation, evidence: evidence, entitlement: request.entitlement, in: app, environment: environment,
      at: moment)
  }

  private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(Status) -> Value {
    do { return try body() } catch { throw Status(error) }
  }
}
