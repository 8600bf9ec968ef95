internal import AppStore
internal import Pages

// The texts of the actions.
extension Text {
  static func title(of action: ActionName) -> String {
    switch action {
    case .grant: "Grant"
    case .revoke: "Revoke the grant"
    case .link: "Link a purchase"
    case .transfer: "Transfer a purchase"
    case .merge: "Merge into another customer"
    case .undo: "Undo"
    case .refresh: "Ask Apple about the purchase"
    case .extend: "Extend the renewal date"
    case .erase: "Erase the customer"
    case .answerRefund: "Answer the refund request"
    case .addNote: "Add a note"
    case .deleteNote: "Delete the note"
    case .setAttribute: "Set an attribute"
    case .lookUpOrder: "Ask Apple about an order"
    case .resend: "Resend the dead letters"
    case .discard: "Discard the dead letters"
    case .resumeWebhook: "Resume the webhook"
    case .makeGood: "Make good"
    case .undoBatch: "Undo for all"
    case .extendAll: "Extend all renewal dates of a product"
    case .consent: "Record the consent for refund requests"
    case .setToken: "Set the appAccountToken"
    case .settleConsent: "Settle the withdrawn consent"
    case .reprocess: "Decode the notifications again"
    case .backfill: "Fetch missed notifications"
    case .cancelMigration: "Cancel the migration"
    }
  }

  /// The button that does it: a verb with its object.
  static func confirm(_ action: ActionName, _ form: ActionForm) -> String {
    switch action {
    case .grant: "Grant \(form["entitlement"]) to \(form["customer"])".shortened(to: 60)
    case .makeGood: "Grant \(form["entitlement"]) to all".shortened(to: 60)
    case .undo: "Undo the command"
    case .undoBatch: "Revoke all grants of the batch"
    default: title(of: action)
    }
  }

  /// The action in a row of a table.
  static func short(_ action: ActionName) -> String {
    switch action {
    case .transfer: "Transfer"
    case .extend: "Extend"
    default: title(of: action)
    }
  }

  static let askAppleAgain = "Ask Apple again"
  static let addNote = "Add a note…"
  static let setAttribute = "Set an attribute…"
  static let revokeThis = "Revoke…"
  static let deleteThis = "Delete…"
  static let answerThis = "Answer"
  static let settleThis = "Settle"
  static let cancelThis = "Cancel…"
  static let undo = "Undo"
  static func didIt(_ title: String) -> String { "Done: \(title)." }
  static let preview = "Preview"
  static let cancel = "Cancel"
  static let notDoneYet = "Nothing has happened yet. The button below does it."
  static let changedSince =
    "Something has changed since the preview, or it is older than ten minutes. Look at it again."
  static let sentToApple = "Sent to Apple"
  static let noUndo = "This cannot be undone."
  static let noChange = "No answer changes."

  // Fields.
  static let reasonLabel = "Reason"
  static let reasonHint = "A word or a ticket. It is stored with the command and in the audit log."
  static let level = "Access"
  static let week = "1 week"
  static let untilDate = "Until a date"
  static let dateHint =
    "It counts if the duration is 'Until a date'. For example 2027-05-31, or 2027-05-31T12:00:00Z."
  static let originalTransactionID = "Original transaction id"
  static let transactionID = "Transaction id"
  static let transferID = "Transfer id"
  static let orderID = "Order id"
  static let policy = "If another customer owns it"
  static let policyDefault = "the configured policy"
  static let policyKeep = "the owner keeps it"
  static let policyTransfer = "it moves"
  static let policyShare = "both own it"
  static let fromCustomer = "From customer"
  static let toCustomer = "To customer"
  static let mergedCustomer = "Customer that is merged"
  static let mergeTarget = "Into customer"
  static let typeCustomerID = "Type the id of the customer"
  static let eraseHint = "Erases the customer's identifiers. Apple's facts stay."
  static let extendBy = "Extend by"
  static let extendHint = "Apple allows two extensions a year for each subscription."
  static let appleReason = "Reason for Apple"
  static let reasonSatisfaction = "customer satisfaction"
  static let reasonServiceIssue = "service issue or outage"
  static let reasonOther = "other"
  static let reasonUndeclared = "undeclared"
  static let consented = "The customer consents"
  static let consentHint = "Apple requires consent. Without it nothing is sent."
  static let preference = "Decision that we prefer"
  static let preferenceNone = "none"
  static let preferenceDecline = "decline the refund"
  static let preferenceFull = "refund all"
  static let preferenceProrated = "refund what was not used"
  static let delivered = "delivered, and it works"
  static let qualityIssue = "not delivered: it did not work"
  static let wrongItem = "not delivered: the wrong item"
  static let outage = "not delivered: a server was down"
  static let undelivered = "not delivered: another reason"
  static let consumed = "Used share in percent"
  static let consumedHint = "From 0 to 100; empty: not reported. Apple computes that of subscriptions itself."
  static let sample = "The customer could try it before the purchase"
  static let attributeName = "Name"
  static let attributeValue = "Value"
  static func hasOuterSpace(_ label: String) -> String {
    "'\(label)' begins or ends with white space, which is part of it:"
  }
  static let attributeHint = "Empty: the attribute is removed."

  static let customersLabel = "Customers"
  static let customersHint = "One id a line, or a CSV whose first column has the ids."
  static func idsWithOuterSpace(_ count: Int) -> String {
    (count == 1 ? "1 id begins or ends" : "\(count) ids begin or end")
      + " with white space, which is part of it, such as"
  }
  static func openQuote(_ line: Int) -> String { "a quote that opens in line \(line) is not closed" }
  static func fileOf(_ label: String) -> String { "\(label) from a file" }
  static let batch = "Batch"
  static let continueAction = "Continue"
  static let partlyDone =
    "Some of it may be done. Do it again for the rest: nothing happens twice."
  static func partOf(_ done: Int, _ total: Int) -> String { "\(done) of \(total) done." }
  static let makeGoodHint = "Days for everyone in a list, for example after an outage."

  static let tokenHint = "The UUID that your app gives Apple for the customer's purchases."
  static let notAToken = "the token is not a UUID"
  static let tokenNotHereYet = "Apple has the token. Ask Apple about the purchase to see it here."
  static let noPreviousToken = "It has no token now."
  static func previousToken(_ token: String) -> String { "Its token until now is \(token)." }
  static func willSetToken(_ purchase: String, _ token: String) -> String {
    "Apple stores the token \(token) with the purchase \(purchase)."
  }
  static let alreadySettled = "It was settled before."
  static func willSettleConsent(_ install: String) -> String {
    "The withdrawn consent of the app install \(install) counts as settled. The reason says what was done."
  }

  static let typeProductID = "Type the id of the product again"
  static let withdrawHint = "Without it, an earlier consent is withdrawn."
  static let lastDays = "Of the last"
  static let backfillHint = "Apple keeps notifications for 180 days, and those of its sandbox for 30."
  static let extendAllHint = "Days of a subscription for all its subscribers, by Apple."

  // Problems of fields.
  static let confirmProductDiffers = "the two ids differ"
  static func missing(_ label: String) -> String { "'\(label)' is missing" }
  static func tooLong(_ label: String) -> String { "'\(label)' is too long" }
  static let notADate = "that is not a date such as 2027-05-31"
  static let dateIsPast = "the date has passed"
  static let chooseOne = "choose one of the values"
  static let confirmDiffers = "the typed id is not that of the customer"
  static let notAPercentage = "the share is a whole number from 0 to 100"
  static func tooManyCustomers(_ limit: Int) -> String { "enter between 1 and \(limit) customers" }
  static let orderUnknown = "Apple has no such order of this app"

  // Previews.
  static func willGrant(_ entitlement: String, _ customer: String) -> String {
    "\(customer) gets \(entitlement)."
  }
  static func willRevoke(_ entitlement: String, _ customer: String) -> String {
    "The grant of \(entitlement) to \(customer) ends now."
  }
  static let grantAgain = "Grant again to restore it."
  static func willLink(_ purchase: String, _ customer: String) -> String {
    "The purchase \(purchase) belongs to \(customer)."
  }
  static func previousOwner(_ customer: String) -> String { "Its owner until now is \(customer)." }
  static func willTransfer(_ purchase: String, _ from: String, _ to: String) -> String {
    "The purchase \(purchase) moves from \(from) to \(to)."
  }
  static func willMerge(_ from: String, _ into: String, _ count: Int) -> String {
    "\(from) is merged into \(into), with \(count == 1 ? "1 purchase" : "\(count) purchases")."
  }
  static func willUndo(_ transfer: String) -> String { "The command \(transfer) is reverted." }
  static func willErase(_ customer: String, _ rows: Int64) -> String {
    "The identifiers of \(customer) are erased in \(rows == 1 ? "1 row" : "\(rows) rows")."
  }
  static func erased(_ pseudonym: String) -> String {
    "The customer is \(pseudonym) from now on. This page has what stays."
  }
  static func willRefresh(_ transaction: String) -> String {
    "Apple is asked for everything about the transaction \(transaction). What it answers is stored as evidence."
  }
  static func refreshed(_ changed: Int, _ count: Int) -> String {
    "Apple returned \(count == 1 ? "1 transaction" : "\(count) transactions"); new or newer: \(changed)."
  }
  static func willExtend(_ purchase: String, _ days: String) -> String {
    "Apple extends the renewal date of \(purchase) by \(days) days."
  }
  static func renewsWithout(_ instant: Instant) -> String {
    "Without the extension, it renews at \(Format.minuteUTC(instant))."
  }
  static func renewsAt(_ instant: Instant) -> String { "It renews at \(Format.minuteUTC(instant))." }
  static func willAnswer(_ transaction: String) -> String {
    "Apple gets this answer about the transaction \(transaction)."
  }
  static func willLookUp(_ order: String) -> String { "Apple is asked about the order \(order)." }
  static func willAddNote(_ customer: String) -> String { "A note about \(customer):" }
  static func willDeleteNote(_ customer: String) -> String { "The note about \(customer) is deleted." }
  static func willSetAttribute(_ name: String, _ value: String, _ customer: String) -> String {
    value.isEmpty
      ? "The attribute \(name) of \(customer) is removed."
      : "The attribute \(name) of \(customer) is set to \(value)."
  }
  static func willResend(_ count: Int64, _ webhook: String) -> String {
    "The webhook \(webhook) gets \(deadLetters(count)) again."
  }
  private static func messages(_ count: Int64) -> String { count == 1 ? "1 message" : "\(count) messages" }
  static func resent(_ count: Int64) -> String { "Sent again: \(messages(count))." }
  static func willDiscard(_ count: Int64, _ webhook: String) -> String {
    "This discards \(deadLetters(count)) of \(webhook)."
  }
  static func discarded(_ count: Int64) -> String { "Discarded: \(messages(count))." }
  static func willMakeGood(_ count: Int, _ entitlement: String, _ until: Instant) -> String {
    "\(count == 1 ? "1 customer gets" : "\(count) customers get") \(entitlement)." + Text.until(until)
  }
  static func ofThemChanged(_ count: Int) -> String {
    "The answer changes for \(count) of them; the others have it anyway."
  }
  static func unusableCustomer(_ customer: String, _ problem: String) -> String { "\(customer): \(problem)" }
  static func willRevokeBatch(_ grants: Int, _ customers: Int) -> String {
    "\(grants == 1 ? "1 grant" : "\(grants) grants") of \(countOfCustomers(customers)) \(grants == 1 ? "ends" : "end") now."
  }
  private static func countOfCustomers(_ count: Int) -> String {
    count == 1 ? "1 customer" : "\(count) customers"
  }
  static func willExtendAll(_ product: String, _ days: Int32, _ count: Int64) -> String {
    "Apple extends the renewal dates of all subscriptions of \(product) by \(self.days(Int64(days))): \(count == 1 ? "1 is" : "\(count) are") active here."
  }
  static func appleRequest(_ id: String) -> String { "Apple's request is \(id)." }
  static func willRecordConsent(_ customer: String, _ isGiven: Bool) -> String {
    isGiven
      ? "\(customer) consents that Apple gets consumption information."
      : "\(customer) does not consent that Apple gets consumption information."
  }
  static func willReprocess(_ count: Int64, _ changed: Int64) -> String {
    "Decoding \(notifications(Int(count))) again changes \(changed)."
  }
  static func reprocessed(_ count: Int64, _ changed: Int64) -> String {
    "Decoded again: \(notifications(Int(count))). Changed: \(changed)."
  }
  static func willBackfill(_ start: Instant) -> String {
    "Apple is asked for all notifications since \(Format.minuteUTC(start)); then for the affected purchases."
  }
  static func backfilled(_ received: Int64, _ drifted: Int64) -> String {
    "Fetched: \(notifications(Int(received))) that had not arrived. The state of \(countOfCustomers(Int(drifted))) differed."
  }
  static func willCancelMigration(_ id: String) -> String {
    "The migration \(id) stops. What it has migrated stays."
  }
  static func willResume(_ webhook: String) -> String { "Messages are sent to \(webhook) again." }
}
