internal import Pages

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
