internal import Pages

// The texts of work lists without rows: what would be in them, and how it gets there.
extension Text {
  static let emptyRefunds =
    "No refund request waits. Apple sends one when a customer asks for money back (CONSUMPTION_REQUEST)."
  static let emptyUnclaimed =
    "Each purchase has a customer. One waits here if Apple reports it before an app has submitted it for a customer."
  static let emptyConsents =
    "No withdrawal waits. Apple sends one when a parent or guardian no longer agrees (RESCIND_CONSENT)."
  static let emptyDeadLetters =
    "Each message was accepted or discarded, or is still being sent. One is here after its last attempt has failed, or after a webhook responded with 410 Gone."
  static let emptyRejected =
    "Each notification was verified and understood. One is here if its signature, its app or its type is not accepted."
  static let emptyDrift =
    "The last repair changed no answer. A repair asks Apple for missing notifications, by itself or with 'entitled notifications backfill'."
  static let noRepair =
    "No repair has run. One starts by itself when notifications are missing, or with 'entitled notifications backfill'."
  static let runningRepair =
    "The repair has found no changed answer so far. Load the page again when it has finished."
  static let failedRepair =
    "The last repair failed before it found a changed answer. Remove the cause above, then fetch the notifications again."
  static let emptyContradictions =
    "No customer's facts conflict. One is here if Apple's documents, or they and the catalog, cannot all be right."
  static let emptyDisagreements =
    "RevenueCat and this service agree, or no event of RevenueCat has arrived yet: connect its webhook first."
  static let emptyMigrations =
    "No receipt was migrated from another system. 'entitled migrate --input receipts.ndjson' starts a job."
}

// The texts of what to do about failures of migrations.
extension Text {
  static let adviceHead = "Do"
  static let adviceRetry = "Submit the line again later: Apple, or a part of the service, gave no answer."
  static let adviceKey = "Configure the In-App Purchase key of the app, then submit the line again."
  static let adviceOwned =
    "Find out whether both are one person. Then merge the two customers, or transfer the purchase; otherwise leave it."
  static let adviceExport =
    "Export the receipt again: it is incomplete, or none. The original transaction id will do, too."
  static let adviceOtherApp = "Migrate it for the app and the environment that it is from, or leave it out."
  static let adviceTestPurchase = "Leave it out: it is a test purchase made in Xcode."
  static let adviceOldReceipt =
    "Submit the original transaction id instead: Apple's signature of such an old receipt can no longer be verified."
  static let adviceUnknown = "Check the id and the environment: Apple has no such transaction."
  static let adviceField = "Correct the line as the words say, and submit it again."
  static let adviceForged =
    "Give nothing for it: Apple does not confirm it. Paste the receipt into the search box to see why."
  static let adviceOther =
    "Correct the line as the words say, or leave it out. Paste the receipt into the search box to see more."
  static let adviceFailedJob =
    "Correct the input and start the job again: lines that are done count as unchanged then."
  static let dryRun = "dry run"
}

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
