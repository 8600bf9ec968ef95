internal import AppStore
internal import Pages

// The texts of the pages about customers, purchases and evidence.
extension Text {
  // A customer.
  static let verdicts = "What the customer has"
  static let parts = "Parts of this page"
  static let noVerdicts =
    "The app has no entitlement. Write what its products grant into 'products' of the configuration."
  static let noVerdictsThen =
    "The customer had nothing at this moment, and nothing had ended. Move the slider to a later one."
  static let since = "since"
  static let storefront = "Storefront"
  static let family = "family"
  static let appAccountToken = "appAccountToken"
  static let paid = "paid"
  static let notKnown = "not known"
  static func refundedOfPaid(_ money: String) -> String { "\(money) refunded" }
  static func withoutPrice(_ count: Int64) -> String {
    count == 1 ? "1 purchase without a price" : "\(count) purchases without a price"
  }
  static let merged = "merged"
  static func andMore(_ count: Int) -> String { " and \(count) more" }
  static let openInCRM = "Open in the customer database"
  static let contradiction = "Facts contradict each other."
  static let appStore = "App Store"
  static func probably(_ confidence: Double) -> String {
    "probably, \(Int((min(max(confidence, 0), 1) * 100).rounded())) %"
  }
  static let unknownCustomer = "Nothing is stored about this id: the page is that of any new customer."
  static func activeIn(_ environment: String) -> String {
    "This customer has an entitlement in \(environment)."
  }
  static func tokenConflict(_ purchase: String, _ customer: String) -> String {
    "The purchase \(purchase) was made with the appAccountToken of \(customer.isEmpty ? "another customer" : customer)."
  }
  static func refundAsked(_ product: String, _ left: String?) -> String {
    "The customer asked Apple for a refund of \(product)"
      + (left.map { "; \($0) left to answer Apple." } ?? ".")
  }
  static let openQueue = "Open the refund requests"
  static let noRefundRequests =
    "No refund request. Apple reports one when the customer asks for money back; then it can be answered here."
  /// The beginning of a sentence of DescribeCustomer.
  static func verdictPrefix(_ entitlement: String, _ isEntitled: Bool) -> String {
    "\(entitlement): \(isEntitled ? yes : no). "
  }
  static let adviceTitle = "What to do and to tell"
  static let stepsTitle = "The steps of the answer"
  static let toDo = "Do:"
  static let tell = "Tell:"
  static let copy = "Copy"
  static func copySentence(_ entitlement: String) -> String { "Copy what to tell about \(entitlement)" }
  static let applesPage = "Apple's page"
  static func left(_ span: String) -> String { "\(span) left." }
  /// Whether a sentence of the advice has the time that is left.
  static func saysTimeLeft(_ sentence: String) -> Bool { sentence.contains(" left") }
  static func why(_ entitlement: String) -> String { "Why \(entitlement)?" }
  static let laterChanges = "Recorded later"
  static let limited = "limited"
  static let full = "full"

  // The lanes.
  static func pictureTitle(_ customer: String) -> String { "What \(customer) had, and when" }
  static let noHistory = "No purchase, grant or notification yet. Submit a purchase with 'entitled submit'."
  static let show = "Show"
  static let knownThen = "with what was known then"
  static let wholeHistory = "◂ Show the whole history"
  static let last13Months = "Show the last 13 months"
  static func foldedLanes(_ count: Int) -> String { count == 1 ? "1 older lane" : "\(count) older lanes" }
  static let boughtOnce = "bought"
  static let asCSV = "The history as CSV"
  static let asJSON = "The event as JSON"
  static let laneAccess = "access"
  static let laneGrant = "Grant"
  static let laneOperator = "We did"
  static func commands(_ count: Int) -> String { count == 1 ? "1 command" : "\(count) commands" }
  static func messages(_ count: Int) -> String {
    count == 1 ? "1 webhook message" : "\(count) webhook messages"
  }
  static func delivery(_ webhook: String, _ state: String, _ sequence: Int64) -> String {
    "\(webhook): \(state), #\(sequence)"
  }
  static let markGrantRevoked = "grant revoked"

  // The tables of a customer.
  static let purchases = "Purchases"
  static let noPurchases =
    "No purchase. Purchases come from the app, from Apple's notifications, and by linking them."
  static let renewal = "Renews"
  static let renewalOff = "renewal is off"
  static let refunded = "refunded"
  static let over = "over"
  static let grants = "Grants"
  static let grantID = "Grant"
  static let revoked = "revoked"
  static let noEnd = "no end"
  static let consumables = "Consumables"
  static let bought = "Bought"
  static let refundedHead = "Refunded"
  static let leftOfUnits = "Left, without what was used"
  static let fulfillments = "To deliver"
  static let unitsDue = "Units due"
  static let timeline = "Timeline"
  static let noEvents =
    "No event: the purchase changed no customer's answer yet. Linking it, renewals and refunds are events."
  static let noTimeline = "No event. Purchases, renewals, refunds and grants are events."
  static let noSelectedEvents = "No event of this kind. Choose all to see the others."
  static let filter = "Filter"
  static let sourceOperators = "we did"
  static let sourceOthers = "Apple, the customer or time"
  static let showNotifications = "Apple's notifications"
  static let showWebhooks = "Webhooks"
  static let apple = "Apple"
  static func otherCustomer(_ id: String) -> String { "other customer: \(id)" }
  static let refundRequests = "Refund requests"
  static let onlyAppleRefunds = "Only Apple can give money back:"
  static let consentGiven = "Consents that Apple gets consumption information, since"
  static let consentWithdrawn = "Does not consent that Apple gets consumption information, since"
  static let asked = "Asked"
  static let timeLeft = "Time left"
  static let probableFamily = "Probable family"
  static let noFamily = "No other customer shares purchases with this one, as far as is known."
  static let confidence = "Confidence"
  static let grounds = "Grounds"
  static let noCustomer = "no customer"
  static let notes = "Notes"
  static let note = "Note"
  static let noNotes = "No note. Notes tell colleagues what was promised; the customer does not see them."
  static let attributes = "Attributes"
  static let noAttributes = "No attribute, such as the id in another system by which to find the customer."
  static let copyForTicket = "Copy for ticket"

  static let raw = "Raw"
  static let showRaw = "Show the service's answers of this page as JSON"

  // A purchase.
  static func pictureOfPurchase(_ id: String) -> String { "The periods of the purchase \(id)" }
  static let owner = "owner"
  static let formerOwners = "before"
  /// The word for the command that ended an ownership; `nil`: the table of owners has it.
  static func endOfOwnership(_ command: String) -> String? {
    switch command {
    case "MERGE": merged
    case "MOVE": "transferred"
    default: nil
    }
  }
  static let unclaimed = "unclaimed"
  static let nextPoll = "Next poll"
  /// The words before the time of the next attempt.
  static func pendingLookup(_ attempts: Int32) -> String {
    switch attempts {
    case 0: "Apple will be asked"
    case 1: "Apple was asked once without success, next"
    default: "Apple was asked \(attempts) times without success, next"
    }
  }
  static let noTransactions = "No transaction is stored. Apple can be asked about the purchase."
  static let offer = "Offer"
  static func offerOf(_ type: String) -> String { "\(type) offer" }
  static let renewalInfo = "Renewal info"
  static let noRenewalInfo = "None: it is no subscription, or Apple has not sent it."
  static let willRenew = "Will renew"
  static let renewsTo = "Renews to"
  static let graceEnds = "Grace period until"
  static let inBillingRetry = "In billing retry"
  static let paymentHead = "Payment"
  static func payment(_ number: Int32, of total: Int32, left: Int32) -> String {
    "\(number) of \(total), \(left) left"
  }
  static let committedUntil = "Committed until"
  static let stillToPay = "Still to pay, forecast"
  static let signedAt = "Signed"
  static let ownership = "Owners"
  static let noOwnership =
    "It was never linked to a customer. The customer's app links it when it submits the purchase, and a person can."
  static let linked = "linked to"
  static let unlinked = "unlinked from"
  static let noNotifications = "Apple has sent no notification about this purchase."
  static let seat = "Seat"

  // Evidence and events.
  static func evidenceTitle(_ id: Int64) -> String { "Evidence \(id)" }
  static func eventTitle(_ sequence: Int64) -> String { "Event \(sequence)" }
  static let accepted = "accepted"
  static let arrived = "Arrived"
  static let source = "Source"
  static let size = "Size"
  static let purged = "the body was purged"
  static let verified = "verified"
  static let certificates = "Certificates"
  static let subject = "Subject"
  static let issuer = "Issuer"
  static let valid = "Valid"
  static let digest = "SHA-256"
  static let command = "Command"
  static let effects = "Effects"
  static let noEffects = "No event: no answer changed."
  static let showVerbatim = "Show the bytes as they arrived"
  static let verbatim = "As it arrived"
  static let happened = "Happened"
  static let recorded = "Recorded"
  static let answer = "Entitled"
  static let accessUntil = "Access until"
  static func change(_ type: String, _ entitlement: String, _ customer: String) -> String {
    "\(Format.words(type)), \(entitlement), \(customer)"
  }

  // Work.
  static let queueRefunds = "Refund requests"
  static let queueConsents = "Withdrawn consents"
  static let hintConsents =
    "A parent or guardian withdrew the consent that a child uses the app. Settle each one by its deadline."
  static let appInstall = "App install"
  static let withdrawn = "Withdrawn"
  static let settleBy = "Settle by"
  static func consentOpen(_ withdrawn: Instant?, _ deadline: Instant?) -> String {
    "A parent or guardian withdrew the consent on \(minute(withdrawn)); settle it by \(minute(deadline))."
  }
  static func consentSettled(_ withdrawn: Instant?, _ settled: Instant?) -> String {
    "A parent or guardian withdrew the consent on \(minute(withdrawn)); it was settled on \(minute(settled))."
  }
  private static func minute(_ instant: Instant?) -> String { instant.map(Format.minuteUTC) ?? none }
  static let queueUnclaimed = "Unclaimed purchases"
  static let queueDeadLetters = "Dead letters"
  static let queueRejected = "Rejected documents"
  static let queueDrift = "Drift"
  static let repairRuns = "It still runs"
  static func missing(notifications count: Int64) -> String {
    "\(notifications(Int(count))) had not arrived"
  }
  static let queueContradictions = "Contradictions"
  static let queueMigrations = "Migrations"
  static let hintRefunds =
    "Apple asks how much of a purchase was used, and decides without an answer after 12 hours."
  static let hintUnclaimed =
    "Purchases without a customer. They are linked when the customer's app submits them, or here."
  static let hintDeadLetters = "Messages that a webhook did not accept after all attempts."
  static let hintRejected = "Notifications that do not verify, or that this version does not support."
  static let hintDrift = "Answers that differed from Apple's state in the last repair."
  static let hintContradictions =
    "Customers whose facts cannot all be true, or that conflict with the catalog. They still have an answer."
  static let queueDisagreements = "Disagreements with RevenueCat"
  static let hintDisagreements =
    "What RevenueCat's webhooks state, and what the answer is here. A row closes when both sides agree."
  static let disagreement = "Difference"
  static let statedByRevenueCat = "RevenueCat"
  static let answeredHere = "Here"
  static let theirsOnly = "access at RevenueCat only"
  static let oursOnly = "access here only"
  static let otherEnd = "another end"
  static let theirEvent = "The event"
  static let hintMigrations = "Jobs that migrate receipts, latest first."
  static let numberOfRows = "The number of rows"
  static let workHint = "The number beside Work counts refund requests and webhooks with dead letters."
  static func moreThan(_ count: Int) -> String { "more than \(count)" }
  static let listAsCSV = "The list as CSV"
  static let download = "Download"
  static let downloadHint = "The audit log records the reason."
  static let progress = "Progress"
  static let candidates = "Probably of"
  static let webhook = "Webhook"
  static func webhookGone(_ name: String) -> String {
    "The webhook \(name) responded with 410 Gone. Nothing is sent to it."
  }
  static func deadLetters(_ count: Int64) -> String { count == 1 ? "1 dead letter" : "\(count) dead letters" }
  static func attempts(_ count: Int32) -> String { count == 1 ? "1 attempt" : "\(count) attempts" }
  static func messageTo(_ webhook: String) -> String { "A message to \(webhook)" }
  static let webhookID = "webhook-id"
  static let notWaiting = "It was delivered or discarded, or it has not been sent yet."
  static let sentBody = "What the webhook receives"
  static let migration = "Migration"
  static let started = "Started"
  static let finished = "Finished"
  static let migrated = "Migrated"
  static let unchanged = "Unchanged"
  static let rejectedHead = "Rejected"
  static let retryable = "Retryable"
  static func failuresOf(_ migration: String) -> String { "Failures of \(migration)" }
  static let failuresHint =
    "Receipts that were not migrated. 'entitled migrate failures' lists them as lines to submit again."
  static let noFailures =
    "No failed receipt is stored. If the migration counts some, they were deleted: 'entitled migrate' does so after it has shown them."

  // Status and audit.
  static let ready = "ready"
  static let notReady = "not ready"
  static let serverTime = "Time of the service"
  static let storeSize = "Store"
  static func free(_ size: String) -> String { "\(size) free" }
  static let lastEvidence = "Last evidence"
  static let replica = "Replica"
  static let replicas = "Replicas"
  static let noReplicas =
    "The database does not report now which replicas it has seen in the last 30 seconds."
  static let leads = "leads"
  static let follows = "follows"
  static let commitsBehind = "Commits behind"
  static let lag = "Lag"
  static func replica(_ name: String, isLeader: Bool, leader: String) -> String {
    if isLeader { return "\(name), the leader" }
    return leader.isEmpty ? "\(name); no replica leads now" : "\(name); \(leader) leads"
  }
  static let dependencies = "Dependencies"
  static let dependency = "Dependency"
  /// The check of a name in the contract; `nil` for one that this version does not have.
  static func check(_ name: String) -> String? {
    switch name {
    case "store_readable": "The store can be read"
    case "store_writable": "The store can be written"
    case "disk": "The disk has free space"
    case "writer_lag": "Writes do not wait"
    case "configuration": "The configuration on disk is in use"
    default: nil
    }
  }
  static func usualInterval(_ span: String) -> String { "usual interval: \(span)" }
  static let completeUntil = "Complete until"
  static func overduePolls(_ count: Int64) -> String { "\(count) overdue" }
  static let appleKey = "Apple key"
  static let notificationDelay = "Delay"
  static func longest(_ span: String) -> String { "longest \(span)" }
  static let rateLimits = "Apple's rate limits"
  static let noAppleCalls = "Apple was not called since the start."
  static let endpoint = "Endpoint"
  static let availableCalls = "Calls left"
  static let callsPerSecond = "Calls a second"
  static let waitingCalls = "Waiting"
  static let lastEvent = "Last event"
  static let webhooks = "Webhooks"
  static func webhooks(of app: String) -> String { "The webhooks of \(app)" }
  static let usedFor = "Used for"
  static let noCertificates =
    "No listener has TLS, and no root is trusted besides Apple's. A proxy in front has its own certificates."
  static let noWebhooks = "No webhook is configured: events are sent nowhere."
  static let behind = "Messages behind"
  static let pending = "Pending"
  static let oldest = "Oldest pending"
  static let configuration = "Configuration"
  static let loaded = "Loaded"
  static let demo = "the demo configuration"
  static let needsRestart = "Apply from the next start on:"
  static let curves =
    "Curves over time are in Grafana: deploy/grafana has the dashboards for the metrics of /metrics."
  static let curvesAre = "Curves over time are in"
  static let grafana = "Grafana"
  static let address = "Address"
  static let asKnownAt = "As known at"
  static let auditHint =
    "Who looked at customers, and who changed something, latest first. The calls of one look are one row, which opens to them; the CSV has each call."
  static let lookedAt = "Looked at"
  static let sawNoCustomer = "Looked, and saw no customer"
  static func calls(_ count: Int) -> String { "\(count) calls" }
  static let noEntries =
    "No call about a customer with these conditions is recorded. Entries are deleted after the configured time."
}
