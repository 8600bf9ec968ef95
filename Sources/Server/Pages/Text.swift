/// Texts of pages, which the console and the sandbox extend, so that another language is another set of these files.
package enum Text {
  package static let skip = "Skip to the content"
  package static let none = "–"
  package static let yes = "yes"
  package static let no = "no"
  package static func characters(_ count: Int) -> String { "\(count) characters" }
  package static func minutes(_ count: Int64) -> String { count == 1 ? "1 minute" : "\(count) minutes" }
  package static let underOneMinute = "less than a minute"
  package static func hours(_ count: Int64) -> String { count == 1 ? "1 hour" : "\(count) hours" }
  package static func days(_ count: Int64) -> String { count == 1 ? "1 day" : "\(count) days" }
  package static func weekCount(_ count: Int64) -> String { count == 1 ? "1 week" : "\(count) weeks" }
  package static func monthCount(_ count: Int64) -> String { count == 1 ? "1 month" : "\(count) months" }
  package static func yearCount(_ count: Int64) -> String { count == 1 ? "1 year" : "\(count) years" }
  /// The price of a period.
  package static func price(_ money: String, for period: String) -> String { "\(money) for \(period)" }
  package static let when = "When\(inUTC)"
  /// The end of a head of a column of times.
  static let inUTC = " (UTC)"
  package static let what = "What"
  package static let from = "From"
  package static let to = "To"
  package static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  // The frame.
  package static let navigation = "Pages"
  package static let zoneButton = "UTC or local times"
  package static let themeButton = "Light or dark"
  package static let densityButton = "Roomy or compact rows"
  package static let localTimes = "Local times"
  package static let utcTimes = "Times in UTC"
  package static let here = "here"
  package static let addressCopied = "Address copied"
  package static let idCopied = "Id copied"
  package static let copyRefused = "Copying is not allowed"
  package static let toStart = "To the start"
  package static let keysButton = "Keys without Ctrl or Alt"
  package static let keysOn = "Keys are on"
  package static let keysOff = "Keys are off"

  // Heads of columns, and labels.
  package static let actions = "Actions"
  package static let attempts = "Attempts"
  package static let catalog = "Catalog"
  package static let change = "Change"
  package static let delivery = "Delivery"
  package static let duration = "Duration"
  package static let line = "Line"
  package static let more = "More…"
  package static let nextAttempt = "Next attempt"
  package static let nextPage = "Next page"
  package static let offers = "Offers"
  package static let older = "Older"
  package static let price = "Price"
  package static let productHead = "Product"
  package static let refund = "Refund"
  package static let seats = "Seats"
  package static let state = "State"
  package static let status = "Status"
  package static let transaction = "Transaction"
  package static let transactions = "Transactions"
  package static let url = "URL"
  package static let version = "Version"

  // Charts.
  package static let openBuckets = "not whole, or not closed"
  package static let revisedBuckets = "changed after it had closed"
  package static let estimated = "estimated"

  // The lanes.
  package static let legend = "Legend"
  package static let now = "now"
  package static let asTable = "The picture as a table"
  package static let lanesTable = "Periods and marks"
  package static let lane = "Lane"
  package static let lanePurchase = "purchase"
  package static let laneShared = "shared"
  package static let laneApple = "Apple said"
  package static func boughtCount(_ count: Int) -> String { "\(count) bought" }
  package static let markRefunded = "refunded"
  package static let markSharingEnded = "sharing ended"
  package static let markUpgraded = "upgraded"
  package static let markRefundAsked = "refund asked for"
  /// The sign of ``Lane/dots`` in the legend.
  package static let dotSign = "●"
  package static let signs: [(sign: String, meaning: String)] = [
    ("↩", "refund"), ("?", "refund asked for"), ("↥", "upgraded"), ("⇥", "sharing ended"),
    ("✕", "grant revoked"), ("!", "a webhook did not accept it"),
    (dotSign, "bought, Apple said, or we did"),
  ]
  package static func notifications(_ count: Int) -> String {
    count == 1 ? "1 notification" : "\(count) notifications"
  }
  package static func span(_ meaning: String, _ since: String, _ until: String?) -> String {
    "\(meaning): \(since) to \(until ?? "no end")"
  }

  package static func name(of tone: Tone) -> String {
    switch tone {
    case .full: "full"
    case .trial: "trial"
    case .grace: "grace"
    case .retry: "retry"
    case .none: "none"
    case .grant: "grant"
    case .shared: "shared"
    case .ended: "ended"
    }
  }

  package static func meaning(of tone: Tone) -> String {
    switch tone {
    case .full: "access or paid period"
    case .trial: "free trial"
    case .grace: "payment failed, access continues"
    case .retry: "payment failed, no access"
    case .none: "withdrawn"
    case .grant: "given by us"
    case .shared: "family or seat"
    case .ended: "over"
    }
  }
}
