internal import Pages

// The texts of Apple's refund history.
extension Text {
  static func noRequest(_ transaction: String) -> String {
    "No refund request about the transaction \(transaction) waits for an answer. Check the id."
  }
  static let refundHistory = "Refunds at Apple"
  static let askForRefunds = "Ask Apple for all refunds"
  static let askForRefundsHint =
    "Of the customer's Apple Account in this app, those of other customer ids too. Calls Apple."
  static let appleSaidAt = "Apple's answer of"
  static let refundsAreStored = "What was new in it is stored, and counts from now on."
  static let noRefunds = "Apple reports no refund for this Apple Account in this app."
  static let refundsNeedPurchase = "the customer has no purchase to ask Apple about"
  static let refundedOther = "other reason"
  static let refundedForIssue = "issue with the app"
  static func refundsNeedKey(_ app: String) -> String {
    "Apple answers only with an In-App Purchase key: configure it for \(app) (in_app_purchase_key), and ask again."
  }
  static func moreRefunds(_ transaction: String) -> String {
    "Apple has more refunds. 'entitled apple refunds \(transaction)' lists all."
  }
}
