internal import AppReceipt
internal import AppStore
internal import Entitlements
internal import Store

/// Reads the stored facts about the Apple account of a receipt.
struct AccountReader: Sendable {
  let store: any EntitlementStore

  /// All lines of the receipt, and all others that were bought through the same copies of the app, or through `copies`.
  func purchases(
    of receipt: AppReceiptPayload, through copies: Set<String>, appID: String, environment: Environment
  ) async throws(StoreError) -> AccountPurchases {
    try await store.read { reader throws(StoreError) in
      func line(_ number: String) -> LineKey {
        LineKey(appID: appID, environment: environment, originalTransactionID: number)
      }
      var read: Set<LineKey> = []
      var facts = CustomerFacts()
      for purchase in receipt.purchases {
        guard let number = purchase.originalTransactionID ?? purchase.transactionID else { continue }
        if read.insert(line(number)).inserted { facts.merge(try reader.facts(of: line(number))) }
      }
      var preorderDate: Instant?
      for copy in copies.union(facts.transactions.compactMap(\.details.appTransactionID)) {
        for other in try reader.lines(ofCopy: copy, of: appID, in: environment)
        where read.insert(other).inserted { facts.merge(try reader.facts(of: other)) }
        let copies = try reader.facts(of: line(LineKey.appTransactionPrefix + copy)).appTransactions
        preorderDate = preorderDate ?? copies.compactMap(\.preorderDate).first
      }
      return AccountPurchases(facts, preorderDate: preorderDate)
    }
  }
}
