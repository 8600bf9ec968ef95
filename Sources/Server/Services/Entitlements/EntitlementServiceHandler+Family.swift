internal import Bytes
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Customers who are probably one family. The result does not affect entitlements.
extension EntitlementServiceHandler {
  /// The position of a page is the number of the members before it.
  /// Computed from the store with each call, within ``FamilyLimit``, and not from Apple's groups.
  func getProbableFamily(
    _ request: GetProbableFamilyRequest, _ call: CallContext
  ) async throws(Status) -> GetProbableFamilyResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let (page, size) = try context.page(of: request)
    let first = Int(clamping: try page.number ?? 0)
    let customer = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let members = try await context.readExpensively(call) { reader throws(StoreError) in
      let facts = try reader.facts(of: customer) ?? CustomerFacts()
      let candidates = try FamilyCandidate.candidates(for: customer, facts, reader)
      return FamilySharing.probableFamily(of: facts, among: candidates)
    }
    let shown = members.dropFirst(first).prefix(size)
    CallScope.show(shown.map(\.customerID))
    return .with {
      $0.members = shown.map(Wire.ProbableFamilyMember.init)
      if members.count - first > size { $0.nextPageToken = page.token(after: first + size) }
    }
  }
}

/// Limits of the search for a family, so that its cost does not depend on the popularity of a product.
private enum FamilyLimit {
  /// The latest periods of the customer that are searched for.
  static let periods = 24
  /// The purchases with the same period, of each.
  static let lines = 32
  /// The other customers to compare.
  static let candidates = 64
}

extension FamilyCandidate {
  /// The other customers with a purchase of the same product and dates as one of the customer's.
  fileprivate static func candidates(
    for customer: CustomerKey, _ facts: CustomerFacts, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [FamilyCandidate] {
    var found: [String] = []
    let latest = facts.transactions.filter(\.canBeShared).sorted { $0.purchaseDate > $1.purchaseDate }
    for period in latest.prefix(FamilyLimit.periods) {
      let lines = try reader.lines(
        sharing: period.productID, at: period.sharedInstant, of: customer.appID, in: customer.environment,
        limit: FamilyLimit.lines)
      for line in lines where found.count < FamilyLimit.candidates {
        let others = try reader.owners(of: line).filter { !customer.isAmong([$0]) }
        for owner in others where !found.containsID(owner) { found.append(owner) }
      }
    }
    var candidates: [FamilyCandidate] = []
    for id in found.prefix(FamilyLimit.candidates) {
      let key = CustomerKey(appID: customer.appID, environment: customer.environment, customerID: id)
      guard let facts = try reader.facts(of: key) else { continue }
      candidates.append(FamilyCandidate(customerID: id, facts: facts))
    }
    return candidates
  }
}

extension Wire.ProbableFamilyMember {
  fileprivate init(_ member: FamilySharing.ProbableFamilyMember) {
    self.init()
    customerId = member.customerID
    originalTransactionId = member.originalTransactionID
    inAppOwnershipType = Wire.InAppOwnershipType(member.ownership)
    confidence = member.confidence
    grounds = member.grounds
  }
}
