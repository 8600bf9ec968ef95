/// Texts of pages, which the console and the sandbox extend, so that another language is another set of these files.
package enum Text {
  package static let skip = "Skip to the content"
  package static let none = "–"
  package static let yes = "yes"
  package static let no = "no"
  package static func characters(_ count: Int) -> String { "\(count) characters" }
  package static func minutes(_ count: Int64) -> String { count == 1 ? "1 minute" : "\(count) minutes" }
  package static func hours(_ count: Int64) -> String { count == 1 ? "1 hour" : "\(count) hours" }
  package static func days(_ count: Int64) -> String { count == 1 ? "1 day" : "\(count) days" }
  package static let keysButton = "Keys without Ctrl or Alt"
  package static let keysOn = "Keys are on"
  package static let keysOff = "Keys are off"
  package static let when = "When\(inUTC)"
  /// The end of a head of a column of times.
  static let inUTC = " (UTC)"
  package static let what = "What"
  package static let from = "From"
  package static let to = "To"
  package static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  // Charts.
  package static let openBuckets = "not over, or not closed"
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
