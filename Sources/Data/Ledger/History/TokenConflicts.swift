package import Entitlements
package import Store

extension StoreSnapshot {
  /// Returns the purchases of a customer that were bought with the `appAccountToken` of another customer.
  /// Ordered by purchase. Shared purchases, which have the token of their purchaser, are left out, as are conflicts
  /// in which the ids differ in letter case only.
  package func tokenConflicts(
    of customer: CustomerKey, in app: AppDefinition
  ) throws(StoreError) -> [TokenConflict] {
    var tokens: [String: String] = [:]
    for transaction in try facts(of: customer)?.transactions ?? [] where !transaction.isShared {
      guard let token = transaction.details.appAccountToken?.lowercased(), !token.isEmpty else { continue }
      tokens[transaction.originalTransactionID] = token
    }
    var conflicts: [TokenConflict] = []
    for (line, token) in tokens.sorted(by: { $0.key < $1.key }) {
      guard let owner = try tokenOwner(token, like: customer, in: app),
        owner.customerID.lowercased() != customer.customerID.lowercased()
      else { continue }
      conflicts.append(
        TokenConflict(
          line: customer.line(line), claimant: customer.customerID, tokenOwner: owner.customerID, actor: ""))
    }
    return conflicts
  }

  /// The customer bound to the token, or the one whose id equals it; the merge target of either.
  private func tokenOwner(
    _ token: String, like customer: CustomerKey, in app: AppDefinition
  ) throws(StoreError) -> CustomerKey? {
    let line = customer.line("")
    if let id = try customerID(ofToken: token, of: customer.appID, in: customer.environment) {
      return try finalMergeTarget(of: line.customer(id))
    }
    for id in [token, token.uppercased()] where try facts(of: line.customer(id)) != nil {
      return try finalMergeTarget(of: line.customer(id))
    }
    return app.customerFromAppAccountToken ? try finalMergeTarget(of: line.customer(token)) : nil
  }
}
