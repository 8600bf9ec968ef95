internal import AppReceipt
internal import AppStore
internal import Entitlements
internal import Store

/// Reads what is known of the Apple account of a receipt: for all who ask one after the other, with one reader.
actor AccountReader {
  private let store: any EntitlementStore
  private var reader: (any StoreReader)?

  init(store: any EntitlementStore) { self.store = store }

  /// All lines of the receipt, and all others that were bought through the same copies of the app, or through `copies`.
  func purchases(
    of receipt: AppReceiptPayload, through copies: Set<String>, appID: String, environment: Environment
  ) throws(StoreError) -> AccountPurchases {
    let reader = if let reader { reader } else { try store.makeReader() }
    self.reader = reader
    defer { reader.endTurn() }
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
