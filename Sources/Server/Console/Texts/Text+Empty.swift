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
