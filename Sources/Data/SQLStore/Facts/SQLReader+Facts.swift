internal import AppStore
internal import Entitlements
internal import Store

// Reads of facts by transaction, product or app install.
extension SQLReader {
  func transaction(
    _ transactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> TransactionFact? {
    try rows(
      "SELECT fact FROM transaction_fact WHERE transaction_id = ? AND app = ? AND environment = ?",
      transactionID, appID, environment
    ) { row throws(StoreError) in try FactCoding.transaction(row.bytes(0)) }.first
  }

  func lines(
    sharing productID: String, at sharedInstant: Instant, of appID: String, in environment: Environment,
    limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT DISTINCT line_id FROM transaction_fact
      WHERE shared_at = ? AND product_id = ? AND app = ? AND environment = ? LIMIT ?
      """, sharedInstant, productID, appID, environment, limit
    ) { row in LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? "") }
  }
}

extension SQLSession {
  func lines(
    ofAppInstall appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    try rows(
      "SELECT line_id FROM app_install_line WHERE app_transaction_id = ? AND app = ? AND environment = ?",
      appTransactionID, appID, environment
    ) { row in LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? "") }
  }
}
