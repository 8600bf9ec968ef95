internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// The state of a customer as messages of the contract.

extension GetCustomerResponse {
  /// The members of the response that follow from the facts and that `mask` includes.
  init(
    _ facts: CustomerFacts, of customer: CustomerKey, in app: AppDefinition, evaluatedAt now: Instant,
    _ mask: ReadMask, evidence: (EntitlementStatus) throws(StoreError) -> EvidenceID?
  ) throws(StoreError) {
    self.init()
    if mask.includes("customer_id") { customerId = customer.customerID }
    if mask.includes("environment") { environment = Wire.Environment(customer.environment) }
    if mask.includes("evaluated_at") { evaluatedAt = GoogleProtobuf.Timestamp(now) }
    if mask.includes("entitlements") {
      entitlements = try Self.entitlements(facts, in: app, at: now, evidence: evidence)
    }
    guard ["products", "subscription_groups", "consumables", "grants"].contains(where: mask.includes) else {
      return
    }
    let overview = CustomerOverview(facts, in: app, at: now)
    if mask.includes("products") {
      products = overview.products.map { CustomerProduct($0, of: app, environment: customer.environment) }
    }
    if mask.includes("subscription_groups") {
      subscriptionGroups = overview.groups.map(CustomerSubscriptionGroup.init)
    }
    if mask.includes("consumables") { consumables = overview.consumables.map(Wire.ConsumableBalance.init) }
    if mask.includes("grants") { grants = overview.grants.map { Grant($0, to: customer) } }
  }

  private static func entitlements(
    _ facts: CustomerFacts, in app: AppDefinition, at now: Instant,
    evidence: (EntitlementStatus) throws(StoreError) -> EvidenceID?
  ) throws(StoreError) -> [Entitlement] {
    try app.entitlements.map { entitlement throws(StoreError) in
      let status = evaluate(facts, entitlement: entitlement, in: app, at: now)
      return Entitlement(status, of: entitlement, in: app, evidence: try evidence(status), at: now)
    }
  }
}

extension Wire.ConsumableBalance {
  fileprivate init(_ balance: Entitlements.ConsumableBalance) {
    self.init()
    productId = balance.productID
    purchased = balance.purchased
    refunded = balance.refunded
  }
}

extension CustomerProduct {
  fileprivate init(_ product: ProductOverview, of app: AppDefinition, environment: AppStore.Environment) {
    self.init()
    productId = product.productID
    type = Wire.ProductType(product.type)
    typeRaw = product.latest?.type.unknownWord ?? ""
    state = Wire.ProductState(product.state)
    latestTransaction = product.latest.map { Wire.Transaction($0, of: app, environment: environment) }
    renewalInfo = product.renewal.map { Wire.RenewalInfo($0, environment: environment) }
  }
}

extension CustomerSubscriptionGroup {
  fileprivate init(_ group: GroupOverview) {
    self.init()
    subscriptionGroup = group.group
    state = Wire.ProductState(group.state)
    productId = group.productID ?? ""
    autoRenewProductId = group.autoRenewProductID ?? ""
    eligibleForIntroductoryOffer = group.isEligibleForIntroductoryOffer
    eligibleForPromotionalOffers = group.isEligibleForPromotionalOffers
    eligibleWinBackOfferIds = group.eligibleWinBackOfferIDs
    paidDays = Int32(clamping: group.paidServiceDays)
  }
}

extension ExplainResponse {
  /// One page of the explanation of the answer at `now`; `evidence` returns the evidence of a step's fact, which is
  /// read for this page only; `changes` are what was recorded later and changed the answer.
  init(
    _ explanation: Explanation, _ page: ExplanationPage, entitlement: String, in app: AppDefinition,
    environment: AppStore.Environment, at now: Instant, changes: [Ledger.LaterChange],
    evidence: (AnyFact) throws(StoreError) -> EvidenceID?
  ) throws(StoreError) {
    self.init()
    let deciding = try explanation.steps.first(where: \.isDecisive)?.fact.flatMap(evidence)
    self.entitlement = Entitlement(
      explanation.status, of: entitlement, in: app, evidence: deciding, at: now)
    self.environment = Wire.Environment(environment)
    evaluatedAt = GoogleProtobuf.Timestamp(now)
    steps = try explanation.steps.dropFirst(page.first).prefix(page.size).map { step throws(StoreError) in
      ExplanationStep(step, try step.fact.flatMap(evidence))
    }
    let end = page.first + steps.count
    if end < explanation.steps.count { nextPageToken = page.token(after: end) }
    contradictions = explanation.contradictions.map { "\($0.kind.rawValue): \($0.sentence)" }
    laterChanges = changes.map(Wire.LaterChange.init)
  }
}

/// The page of steps that a request wants. Its position is the number of the steps before it.
struct ExplanationPage: Sendable {
  /// The number of steps before the page.
  let first: Int
  /// The greatest number of steps on the page.
  let size: Int
  private let page: RequestedPage

  init(_ request: ExplainRequest, _ page: RequestedPage) throws(Status) {
    first = Int(try page.number ?? 0)
    size = try RequestValidation.pageSize(request.pageSize)
    self.page = page
  }

  /// The token of the page that begins after `count` steps.
  func token(after count: Int) -> String { page.token(after: count) }
}

extension Wire.LaterChange {
  fileprivate init(_ change: Ledger.LaterChange) {
    self.init()
    recordedAt = GoogleProtobuf.Timestamp(change.recordedAt)
    switch change.cause {
    case .evidence(let id, let word):
      kind = word
      self.cause = .evidenceId(id.rawValue)
      explanation = "Evidence \(id.rawValue) (\(word)), recorded at \(change.recordedAt), changed the answer."
    case .catalog(let fingerprint):
      kind = "CATALOG"
      self.cause = .catalogFingerprint(String(fingerprint, radix: 16))
      explanation =
        "The catalog or the rules changed at \(change.recordedAt); the answer is that of the present ones."
    }
  }
}

extension ExplanationStep {
  fileprivate init(_ step: Explanation.Step, _ evidence: EvidenceID?) {
    self.init()
    rule = step.rule
    explanation = step.sentence
    evidenceId = evidence?.rawValue
    transactionId = step.transactionID
    since = step.since.map(GoogleProtobuf.Timestamp.init)
    until = step.until.map(GoogleProtobuf.Timestamp.init)
    decisive = step.isDecisive
  }
}
