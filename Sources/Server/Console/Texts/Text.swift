internal import AppStore
internal import Pages
internal import RPC

/// All texts of the pages, so that another language is another set of these files.
extension Text {
  // The frame.
  static let product = "entitled"
  static let customers = "Customers"
  static let work = "Work"
  static let openWork = "Refund requests to answer, and broken webhooks"
  static let audit = "Audit"
  static let findLabel = "Customer, transaction, order or token"
  static let findHint = "Customer, order, token… ( / )"
  static let readOnly = "You may look, and change nothing."
  static let noRole = "no role"
  static let live = "Live"
  static let liveOn = "This page shows events as they happen"
  static let liveOff = "This page is not live any more"
  static let liveChanged = "New events are shown"
  static let liveRefused =
    "This page cannot be live: load it again, or switch Live off on others, of which you may have eight"
  static let tooManyLivePages = "too many pages are live; switch Live off on others"
  static let eventsSince = "Events since this page was shown:"
  static let refresh = "Refresh"
  static let signOut = "Sign out"
  static let shownAt = "Shown at"
  static let asOf = "As of"
  static let knownNow = "with all that is known now"
  static let backToNow = "Back to now"
  static let textCopied = "Text copied"
  static let ticketCopied = "Text for a ticket copied"
  static let keys: [(key: String, meaning: String)] = [
    ("/", "find"), ("g c", "customers"), ("g w", "work"), ("g l", "segments"), ("g r", "reports"),
    ("g s", "status"),
    ("g a", "audit"),
    ("j k", "next and previous row"), ("a", "grant"), ("m", "more actions"), ("e", "explanation"),
    ("o", "evidence"),
    ("t", "timeline"), ("[ ]", "previous and next event"), ("l", "local times"), ("y", "copy the address"),
    (".", "copy the id of the row or the page"), ("?", "these keys"),
  ]

  // Errors and states.
  static let errorTitle = "That did not work"
  static let requestID = "Request"
  static let noSuchPage = "there is no such page"
  static let tooManyPages = "Too many pages"
  static let tooManyPagesHint = "Wait a moment, and load the page again."
  /// The remedy of an error for a person; `nil` if the message names it.
  static func advice(_ code: StatusCode) -> String? {
    switch code {
    case .notFound: "Check the address or the id, or find it with the box above."
    case .permissionDenied: "The operator of the service can give you access."
    case .unavailable, .deadlineExceeded, .aborted, .resourceExhausted:
      "Try again in a moment. The page Status shows whether something is wrong."
    case .internalError, .unknown, .dataLoss: "Tell the operator of the service, with this message."
    default: nil
    }
  }
  static func cannotShow(_ part: String) -> String { "\(part) cannot be shown now:" }
  static func mayNot(_ action: String) -> String { "you may not do this: \(action)" }
  static func needsRole(_ role: String) -> String { "Needs the role \(role)." }
  static let all = "all"
  static let ok = "OK"

  // Signing in.
  static let signInTitle = "Sign in"
  static let signInHint =
    "This link signs you in once. The audit log records what you look at and what you change under this name."
  static let yourName = "Your name"
  static let nameHint = "For example your e-mail address."
  static let nameNeeded = "Enter a name of at most 64 bytes."
  static let signIn = "Sign in"
  static let linkUsed = "This link was used, or it has expired."
  static let needsLink = "The service prints a link at its start; 'entitled console' prints another one."

  // Finding.
  static let find = "Find"
  static let homeTitle = "Customers"
  static let homeHint =
    "Enter any id: of a customer, a transaction, an order, a token, a grant, an event or a notification. Or paste a JWS "
    + "or a receipt."
  static let appsTitle = "Apps and environments"
  static let noApps =
    "No app is configured for you. The apps of the service are in its configuration, and 'callers' can limit a person to some."
  static let app = "App"
  static let environment = "Environment"
  static let lastNotification = "Last notification"
  static let rejectedAt = "Rejected:"
  static func title(_ page: String, of app: String, _ environment: String) -> String {
    "\(page) of \(app), \(environment)"
  }
  static func openCount(_ count: Int64) -> String { "\(count) open" }
  static let findEmpty = "Enter an id or the beginning of a customer's id."
  static let hits = "Hits"
  static let recognizedAs = "Recognized as"
  static let moreHits = "There are more hits. A longer text finds fewer."
  static func notIn(_ app: String, _ environment: String) -> String {
    "Not in \(app), \(environment), but elsewhere:"
  }
  static let notHere = "Not here: no app or environment that you may see has it."
  static func openNewCustomer(_ app: String, _ environment: String) -> String {
    "Open it as a new customer (\(app), \(environment))"
  }
  static let document = "Document"
  static let checkedFor = "Checked for the app"
  static let notStored = "It was not stored."
  static let noPurchaseInDocument = "The document names no purchase."
  static func purchaseNotHere(_ id: String) -> String { "The purchase \(id) is not stored." }
  static func askForOrder(_ app: String) -> String { "Ask Apple about this order (\(app))" }
  static func askForTransaction(_ app: String, _ environment: String) -> String {
    "Ask Apple about this transaction (\(app), \(environment))"
  }

  // Heads of columns.
  static let inWords = "In words"
  static let open = "Open"
  static let type = "Type"
  static let actor = "Who"
  static let reason = "Reason"
  static let cause = "Cause"
  static let subjectHead = "About"
  static let outcome = "Outcome"
  static let method = "Method"
  static let eventHead = "Event"
  static let evidenceHead = "Evidence"
  static let customer = "Customer"
  static let entitlement = "Entitlement"
  static let periodHead = "Period"
  static let before = "Before"
  static let after = "After"

  // References.
  static func evidence(_ id: Int64) -> String { "evidence \(id)" }
  static func event(_ sequence: Int64) -> String { "event \(sequence)" }
  static let purchase = "Purchase"
  static let openThere = "Open there"

  static func until(_ instant: Instant) -> String { " Access until \(Format.minuteUTC(instant))." }
  static let withoutEnd = " The access has no end."
}
