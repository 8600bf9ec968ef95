internal import Bytes
internal import Entitlements
internal import Store
internal import Wire

/// A customer who probably owns an unclaimed purchase.
struct OwnerCandidate: Hashable {
  /// The reason for which the customer probably owns it. The raw values are part of the API.
  enum Reason: String, Hashable, CaseIterable {
    /// Another purchase of the same Apple Account in the app.
    case sameAppAccount = "SAME_APP_ACCOUNT"
    /// The token of the purchase is the id of the customer.
    case tokenIsCustomer = "TOKEN_IS_CUSTOMER"
  }

  let line: LineKey
  let customerID: String
  let reason: Reason
}

extension StoreSnapshot {
  /// Returns the customers who probably own a purchase without an owner, at most 10; `latest` is its latest transaction.
  func ownerCandidates(
    of line: LineKey, with latest: TransactionFact
  ) throws(StoreError) -> [OwnerCandidate] {
    var found: [OwnerCandidate] = []
    func add(_ customerID: String, _ reason: OwnerCandidate.Reason) {
      guard found.count < 10, !found.map(\.customerID).containsID(customerID) else { return }
      found.append(OwnerCandidate(line: line, customerID: customerID, reason: reason))
    }
    if let token = latest.details.appAccountToken, !token.isEmpty {
      for id in Set([token, token.lowercased(), token.uppercased()]).sorted() {
        if try isKnown(line.customer(id)) { add(id, .tokenIsCustomer) }
      }
    }
    if let install = latest.details.appTransactionID {
      for other in try lines(ofAppInstall: install, of: line.appID, in: line.environment).prefix(50) {
        for owner in try owners(of: other) { add(owner, .sameAppAccount) }
      }
    }
    return found
  }
}

extension Wire.OwnerCandidate {
  init(_ candidate: OwnerCandidate) {
    self.init()
    originalTransactionId = candidate.line.lineID
    customerId = candidate.customerID
    reason = candidate.reason.rawValue
  }
}
