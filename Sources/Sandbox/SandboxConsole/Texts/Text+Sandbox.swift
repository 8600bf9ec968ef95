internal import AppStore
internal import Pages
internal import Sandbox

/// The texts of the sandbox's pages.
extension Text {
  // The frame.
  static let product = "Sandbox App Store"
  static let navigation = "Pages"
  static func world(_ name: String) -> String { "World \(name)" }
  static let notReal = "NOTHING HERE IS REAL"
  static let view = "View"
  static let zoneButton = "UTC or local times"
  static let themeButton = "Light or dark"
  static let densityButton = "Roomy or compact rows"
  static let interfaceHint =
    "Each button is one call of the HTTP interface under /sandbox/v1/, shown as a command."
  static let localTimes = "Local times"
  static let utcTimes = "Times in UTC"
  static let here = "here"
  static let addressCopied = "Address copied"
  static let idCopied = "Id copied"
  static let copyRefused = "Copying is not allowed"
  static let simulatedTime = "Simulated time"
  static let apps = "Apps"
  static let noApps = "No app is configured. Add one to the configuration."
  static let noSuchPage = "There is no such page"
  static let toStart = "To the start"
  static let keys: [(key: String, meaning: String)] = [
    ("n", "to the next event"), ("g o", "overview"), ("g a", "accounts"), ("g s", "shop"), ("g c", "catalog"),
    ("g n", "notifications"), ("g j", "journal"), ("g y", "scenarios"), ("g f", "faults"),
    ("g t", "settings"),
    ("g e", "everything"), ("j k", "next and previous row"), ("l", "local times"), ("y", "copy the address"),
    ("?", "these keys"),
  ]

  // Heads of columns and names of values.
  static let account = "Account"
  static let accounts = "Accounts"
  static let actions = "Actions"
  static let answer = "Answer"
  static let attempts = "Attempts"
  static let callsHead = "Calls"
  static let duration = "Duration"
  static let effect = "Effect"
  static let everyHead = "Applies to"
  static let expires = "Expires"
  static let family = "Family"
  static let kind = "Kind"
  static let left = "Left"
  static let limited = "Refused"
  static let line = "Line"
  static let name = "Name"
  static let notification = "Notification"
  static let offers = "Offers"
  static let owns = "Owns"
  static let payload = "Content"
  static let price = "Price"
  static let productHead = "Product"
  static let resultHead = "Result"
  static let setting = "Setting"
  static let state = "State"
  static let status = "Status"
  static let transaction = "Transaction"
  static let transactions = "Transactions"
  static let url = "URL"
  static let value = "Value"
  static let version = "Version"

  // The overview.
  static let overview = "Overview"
  static func overviewTitle(_ app: String) -> String { "Sandbox of \(app)" }
  static let time = "Time"
  static let oneHour = "+1 hour"
  static let oneDay = "+1 day"
  static let oneWeek = "+1 week"
  static let oneMonth = "+1 month"
  static let advanceTo = "Advance by or to"
  static func toNext(_ next: NextEventView) -> String { "To the next: \(event(next)), \(day(next.at))" }
  static let nothingNext = "nothing is scheduled"
  static let onlyForward = "time only goes forward"
  static let changeRate = "change"
  static let changeSpeed = "Change the speed"
  static func runsAt(_ speed: String) -> String { "speed: \(speed)" }
  static func speed(_ speed: Int64) -> String {
    switch speed {
    case 0: "stopped"
    case 1: "real time"
    case 60: "a minute a second"
    case 3_600: "an hour a second"
    case 86_400: "a day a second"
    default: "\(speed) times as fast"
    }
  }
  static let calendarRate = "periods follow the calendar"
  static func compressedRate(_ month: String) -> String { "a month takes \(month)" }
  static let testFlightRate = "each period takes a day, as in TestFlight"
  static let sentTitle = "What was sent to you"
  static let scenarios = "Scenarios"
  static let scenariosHint =
    "A scenario acts for new accounts and advances the clock, for all accounts, step by step. The journal then shows each step."
  static let theirSteps = "Their steps"
  static func steps(_ count: Int) -> String { "\(count) steps" }
  static func run(_ title: String) -> String { "Run: \(title)" }

  /// `31 Jan`.
  static func day(_ instant: Instant) -> String {
    let time = CalendarTime(instant)
    return "\(time.day) \(months[Int(time.month) - 1])"
  }

  /// `renewal of ann's pro.monthly`.
  static func event(_ next: NextEventView) -> String {
    let whose =
      next.account.map { "\($0.shortened(to: 24))'s \((next.productId ?? "").shortened(to: 30))" } ?? ""
    return switch next.kind {
    case .renewal: "renewal of \(whose)"
    case .endOfPeriod: "end of \(whose)"
    case .endOfGracePeriod: "grace period of \(whose) ends"
    case .endOfBillingRetry: "billing retry of \(whose) ends"
    case .failureNotice: "failed renewal of \(whose) is announced"
    case .priceNotice: "price increase of \(whose) is announced"
    case .massExtension: "mass extension is complete"
    case .externalToken: "notification about an external purchase token"
    case .delivery: "delivery of a notification"
    }
  }

  // Accounts.
  static func accountsHint(_ total: Int) -> String {
    total == 1 ? "1 account has the app." : "\(total) accounts have the app."
  }
  static let noAccounts = "No account yet. Buy something: the account is created with its first purchase."
  static func allAccounts(_ total: Int) -> String { "All \(total) accounts" }
  static let nextPage = "Next page"
  static let older = "Older"
  static let newer = "Newer"
  static let buy = "Buy"
  static let toShop = "To the shop"
  static let refund = "Refund"
  static let acceptCharges = "Let charges succeed"
  static let declineCharges = "Decline the card"
  static let chargesFail = "the card is declined"
  static let chargesSucceed = "charges succeed"
  static func inFamily(_ name: String) -> String { "family \(name)" }
  static let leaveFamily = "Leave the family"
  static func more(_ count: Int) -> String { "and \(count) more" }
  static let more = "More…"
  static func pictureTitle(_ account: String) -> String { "What \(account) had, and when" }
  static let ownsNothing = "Nothing was bought."
  static let requestsToBuy = "Waiting for a parent"
  static let approve = "Approve"
  static let decline = "Decline"
  static let turnRenewalOff = "Turn auto-renew off"
  static let turnRenewalOn = "Turn auto-renew on"
  static let agree = "Agree to the new price"
  static func asksConsent(_ price: String) -> String { "asks for consent to \(price)" }
  static func renewsTo(_ product: String, _ price: String) -> String { "Renews to \(product) for \(price)" }
  static let renewalOff = "Auto-renew is off"
  static func payment(_ number: Int) -> String { "payment \(number) of 12" }
  static func seatCount(_ count: Int64, _ used: Int) -> String { "\(count) seats, \(used) used:" }
  static func times(_ quantity: Int64) -> String { "\(quantity) items" }

  static func state(_ state: PurchaseView.State) -> String {
    switch state {
    case .active: "active"
    case .grace: "in grace period"
    case .retry: "in billing retry"
    case .ended: "ended"
    case .revoked: "revoked"
    case .owned: "owned"
    case .refunded: "refunded"
    }
  }

  static func until(_ state: PurchaseView.State) -> String {
    switch state {
    case .active: "Paid until"
    case .grace: "Access in the grace period until"
    case .retry: "Apple retries the charge until"
    case .ended, .revoked, .owned, .refunded: "Was paid until"
    }
  }

  static func ownership(_ ownership: InAppOwnershipType) -> String {
    switch ownership {
    case .purchased: "purchased"
    case .familyShared: "shared by the family"
    case .assigned: "assigned seat"
    case .unrecognized(let text): text
    }
  }

  // Shop and catalog.
  static let shop = "Shop"
  static let shopHint = "What the app sells. A purchase without an account creates a new one."
  static let noProducts = "The app has no products. Add them to the configuration."
  static let noPrice = "no price"
  static let cannotBuy =
    "Not for sale: it needs a price, a subscription also a period, and it must not be withdrawn."
  static func group(_ group: String, _ level: Int) -> String { "group \(group), level \(level)" }
  static let shareable = "shared with families"
  static let withdrawn = "withdrawn"
  static let upfront = "billed up front"
  static func monthly(_ price: String) -> String { "12 monthly payments of \(price)" }
  static let seats = "Seats"
  static func buyProduct(_ product: String) -> String { "Buy \(product.shortened(to: 40))" }
  static func offer(_ offer: OfferView) -> String {
    let price = Format.money(offer.price)
    let mode = Format.words(offer.mode.rawValue)
    let count = offer.periods > 1 ? ", \(offer.periods) periods" : ""
    return
      "\(offer.id.shortened(to: 40)): \(Format.words(offer.type)), \(mode), \(offer.period)\(count), \(price)"
  }
  static let catalog = "Catalog"
  static let catalogHint =
    "Products as in App Store Connect. Prices are those of the default storefront, USA."
  static let invitedByDeveloper = "the developer invites"
  static let changePrice = "Change the price"
  static let addOffer = "Add an offer"
  static let makeShareable = "Share with families"
  static let unshare = "Stop family sharing"
  static let withdraw = "Withdraw from sale"
  static let sellAgain = "Sell again"

  // Notifications.
  static let notificationsTitle = "Notifications"
  static func allNotifications(_ total: Int) -> String { "All \(total) notifications" }
  static let nothingSent = "Nothing happened yet that Apple sends a notification about."
  static let sentTo = "Sent to"
  static let sentNowhere = "No URL is set, so nothing is sent."
  static func versionOf(_ version: Int64) -> String { "version \(version)" }
  static func rules(_ rules: String) -> String { "Apple's rules for \(Format.words(rules))" }
  static let setURL = "Set the URL"
  static let setDelivery = "Delivery"
  static let sendTest = "Send a test notification"
  static let sendAgain = "Send again"
  static let notSent = "not sent"
  static let pending = "pending"
  static let next = "next attempt"
  static let nextAttempt = "Next attempt"
  static func inMilliseconds(_ count: Int64) -> String { "in \(count) ms" }
  static func milliseconds(_ count: Int64) -> String { "\(count) ms" }
  static func result(_ result: SendAttemptResult) -> String { Format.words(result.rawValue) }
  static let noAttempt = "There was no attempt to deliver it."
  static let noContent = "It has no content."
  static let notLogged = "no longer logged"
  static let emptyResponse = "empty"
  static let bodySent = "The body as it was sent"
  static let bodyNow = "The body as it would be sent now"

  // Journal.
  static let journal = "Journal"
  static let journalHint = "What was done, latest first, and the notifications that followed."
  static let asScript = "As a script"
  static let withDeliveries = "Show deliveries and restarts, too"
  static let onlyDeeds = "Show only what was done"
  static let emptyJournal = "Nothing was done yet."
  static let opened = "The sandbox was started."
  static let passed = "Time passed."
  static let attempt = "Delivery:"
  static let postponed = "Delayed by a fault until"
  static func scriptHead(_ start: String, isWhole: Bool) -> [String] {
    [
      "#!/bin/sh",
      "# What was done in a sandbox, for a new one at any date. Start it first, for the same dates with",
      "#   entitled sandbox serve --in-memory --start \(start)",
      "# Set ENTITLED_SANDBOX for an address other than 127.0.0.1:8090.",
    ] + (isWhole ? [] : ["# The beginning is missing: see the table 'journal' of the sandbox's database."])
  }

  // Faults.
  static let faults = "Faults"
  static let faultsHint = "A fault applies to the next opportunities, as often as its count says."
  static let activeFaults = "Active faults"
  static let allFaults = "All kinds of faults"
  static let noFaults = "No fault is set."
  static let addFault = "Set a fault with its count and duration"
  static let clearFaults = "Clear all faults"
  static let clear = "Clear"
  static func setFault(_ kind: String) -> String { "Set \(kind)" }
  static func every(_ every: Int64) -> String { every == 1 ? "each" : "each \(every)." }
  static let calls = "Calls of Apple's interfaces"
  static let callsHint = "Calls since the start of the process: the Server API, verifyReceipt and others."
  static let noCalls = "No call yet."

  static func meaning(of kind: Faults.Kind) -> String {
    switch kind {
    case .drop: "A notification is lost."
    case .delay: "A notification is sent later."
    case .duplicate: "A notification is sent twice."
    case .reorder: "A notification is sent after the next one."
    case .wrongSignature: "The signatures of a notification or response are invalid."
    case .foreignChain: "Documents are signed under an untrusted root."
    case .rateLimit: "A Server API call gets 429 with Retry-After."
    case .serverError: "A Server API call gets status 500."
    case .slow: "A response is slow."
    case .cut: "The connection is closed without a response."
    case .html: "A response is an HTML page, as from a captive portal."
    case .empty: "A response is empty."
    case .truncated: "A response ends in the middle."
    case .pageLoop: "Every page claims that there is another one."
    case .tokenExpired: "The next page token of the history is expired."
    case .clockOff: "A call gets 401 with a Date that differs from your clock."
    case .ocspDown: "OCSP does not respond."
    case .ocspSlow: "OCSP responds slowly."
    case .ocspRevoked: "OCSP reports the certificates as revoked."
    case .ocspUnknown: "OCSP does not know the certificates."
    case .reportMissing: "A line is missing in a report of App Store Connect."
    case .reportDoubled: "A report has a line twice."
    case .reportCount: "A line of a report counts one more."
    case .reportProceeds: "A line of a report has larger proceeds."
    }
  }

  // Settings.
  static let settings = "Settings"
  static let change = "Change"
  static let delivery = "Delivery"
  static let delayed = "with delays"
  static let undelayed = "at once"
  static let gracePeriod = "Grace period"
  static let off = "off"
  static func graceDays(_ days: Int64, _ scope: String) -> String { "\(days) days, \(Format.words(scope))" }
  static let rateHead = "Length of periods"
  static let renewalTiming = "Timing of renewals"
  static func timing(_ lead: String, _ delay: String, _ stale: Int64) -> String {
    "charged up to \(lead) before the end; failures announced up to \(delay) after it; \(stale) % of stale failures"
  }
  static let sharedSecret = "Shared secret"
  static let isSet = "set"
  static let isNotSet = "not set"
  static let realtimeURL = "Realtime URL of retention messages"
  static let openBehaviour = "Where Apple's documentation is open"
  static let openBehaviourHint = "sharing, seats and commitments"
  static let keysAndTokens = "Keys and tokens of the Server API"
  static let keysHint = "signatures are checked if a key is registered"
  static let moreSettings = "Other settings are among the operations."

  // Operations.
  static let everything = "Everything"
  static let everythingTitle = "Everything that the sandbox can do"
  static let everythingHint = "Each operation is one call of the HTTP interface."
  static let allOperations = "All operations"
  static let asCommands = "As commands"
  static let sameAsCommand = "The same as a command"
  static let optional = "(optional)"
  static func failed(_ status: Int) -> String { "The sandbox responded with status \(status)." }
  static func notJSON(_ field: String) -> String { "\(field) is not a JSON object." }
  static func done(_ title: String) -> String { "Done: \(title)." }
  static let noNotification = "No notification followed."
  static func followed(_ count: Int) -> String {
    count == 1 ? "1 notification followed:" : "\(count) notifications followed:"
  }
}

extension Page.Section {
  var title: String {
    switch self {
    case .overview: Text.overview
    case .accounts: Text.accounts
    case .shop: Text.shop
    case .catalog: Text.catalog
    case .notifications: Text.notificationsTitle
    case .journal: Text.journal
    case .scenarios: Text.scenarios
    case .faults: Text.faults
    case .settings: Text.settings
    case .everything: Text.everything
    }
  }
}
