internal import AppStore
internal import Entitlements
internal import Ledger
internal import Reports
internal import Store
internal import Wire

extension DescribeCustomerResponse {
  /// Describes `customer`, `requested` or its merge target.
  init(
    _ customer: CustomerKey, requested: CustomerKey, in app: AppDefinition, at times: EnvironmentTimes,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    self.init()
    let now = times[customer.environment]
    customerId = customer.customerID
    environment = Wire.Environment(customer.environment)
    evaluatedAt = GoogleProtobuf.Timestamp(now)
    let facts = try reader.facts(of: customer) ?? CustomerFacts()
    entitlements = app.entitlements.map { entitlement in
      EntitlementDescription(
        evaluate(facts, entitlement: entitlement, in: app, at: now), of: entitlement, in: app, at: now)
    }.enumerated().sorted { ($0.element.urgency, $0.offset) < ($1.element.urgency, $1.offset) }
      .map(\.element)
    activeInEnvironments = try reader.environments(
      inWhich: customer.customerID, isEntitledTo: app, at: times, except: customer.environment
    ).map(Wire.Environment.init)
    openRefundRequests = try reader.openRequests(of: customer).map(OpenRefundRequest.init)
    mergedCustomerIds = try reader.allMergedCustomers(into: customer, limit: Self.maxMergedCustomers)
    let totals = PaidTotals(facts, in: app, at: now)
    paid = totals.sums.map(PaidTotal.init)
    purchasesWithoutPrice = totals.unpriced
    summary = sentence(requested, facts)
  }

  /// More merged ids are left out of the response.
  private static let maxMergedCustomers = 100

  /// The customer and the customer's entitlements in one sentence; it names no purchase and no amount.
  private func sentence(_ requested: CustomerKey, _ facts: CustomerFacts) -> String {
    var text = customerId
    if !requested.isAmong([customerId]) {
      text = "\(requested.customerID) was merged into \(customerId), who"
    }
    let granted = entitlements.filter(\.entitled).map(\.entitlement)
    if !granted.isEmpty {
      text += " has \(granted.joined(separator: ", "))"
    } else if facts.transactions.isEmpty, facts.grants.isEmpty {
      text += " is known and has no purchase"
    } else {
      text += " has purchases and no access"
    }
    if !openRefundRequests.isEmpty { text += "; asked Apple for a refund" }
    if !activeInEnvironments.isEmpty {
      let names = activeInEnvironments.compactMap { AppStore.Environment($0)?.rawValue }
      text += "; has access in \(names.joined(separator: ", "))"
    }
    return text + "."
  }
}

extension StoreSnapshot {
  /// The environments of the app, other than `environment`, in which a customer has an entitlement, each by its own clock.
  func environments(
    inWhich customerID: String, isEntitledTo app: AppDefinition, at times: EnvironmentTimes,
    except environment: AppStore.Environment
  ) throws(StoreError) -> [AppStore.Environment] {
    var found: [AppStore.Environment] = []
    for other in app.environments where other != environment {
      let key = try finalMergeTarget(
        of: CustomerKey(appID: app.id, environment: other, customerID: customerID))
      guard let facts = try facts(of: key) else { continue }
      let isEntitled = app.entitlements.contains {
        evaluate(facts, entitlement: $0, in: app, at: times[other]).isEntitled
      }
      if isEntitled { found.append(other) }
    }
    return found
  }

  /// The open consumption requests about purchases of a customer.
  fileprivate func openRequests(of customer: CustomerKey) throws(StoreError) -> [ConsumptionRequestRecord] {
    var filter = ConsumptionRequestFilter(appID: customer.appID, limit: 100)
    filter.environment = customer.environment
    filter.customers = [customer]
    filter.state = .open
    return try consumptionRequests(filter)
  }
}

extension EntitlementDescription {
  /// One entitlement in the words for the staff and for the customer.
  fileprivate init(
    _ status: EntitlementStatus, of entitlement: String, in app: AppDefinition, at now: Instant
  ) {
    let description = SupportDescription(status, about: entitlement, in: app, at: now)
    self.init()
    self.entitlement = entitlement
    entitled = status.isEntitled
    reason = status.reason.rawValue
    supportSentence = description.supportSentence
    customerSentence = description.customerSentence
    actions = description.actions
    url = description.url ?? ""
    deadline = description.deadline.map(GoogleProtobuf.Timestamp.init)
    until = status.until.map(GoogleProtobuf.Timestamp.init)
    productId = status.productID ?? ""
  }

  /// The order of answers: one that needs an action before its deadline comes first, then what is granted.
  fileprivate var urgency: Int { deadline != nil ? 0 : entitled ? 1 : 2 }
}

extension OpenRefundRequest {
  fileprivate init(_ record: ConsumptionRequestRecord) {
    self.init()
    transactionId = record.transactionID
    productId = record.productID
    requestedAt = GoogleProtobuf.Timestamp(record.requestedAt)
    answerBy = GoogleProtobuf.Timestamp(record.answerBy)
  }
}
