internal import AppStore
internal import Pages
internal import Sandbox

/// The texts of the frame, the overview, the settings and the list of operations.
extension Text {
  // The frame.
  static let product = "Sandbox App Store"
  static func world(_ name: String) -> String { "World \(name)" }
  static let notReal = "NOTHING HERE IS REAL"
  static let view = "View"
  static let interfaceHint =
    "Each button is one call of the HTTP interface under /sandbox/v1/, shown as a command."
  static let simulatedTime = "Simulated time"
  static let apps = "Apps"
  static let noApps = "No app is configured. Add one to the configuration."
  static let noSuchPage = "There is no such page"
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
  static let answer = "Answer"
  static let callsHead = "Calls"
  static let effect = "Effect"
  static let everyHead = "Applies to"
  static let expires = "Expires"
  static let family = "Family"
  static let kind = "Kind"
  static let left = "Left"
  static let limited = "Refused"
  static let name = "Name"
  static let notification = "Notification"
  static let owns = "Owns"
  static let payload = "Content"
  static let resultHead = "Result"
  static let setting = "Setting"
  static let value = "Value"

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
  static func lengthInDays(_ count: String) -> String { count == "1" ? "1 day" : "\(count) days" }
  static func lengthInHours(_ count: String) -> String { count == "1" ? "1 hour" : "\(count) hours" }
  static func lengthInMinutes(_ count: String) -> String { count == "1" ? "1 minute" : "\(count) minutes" }
  static func lengthInSeconds(_ count: String) -> String { count == "1" ? "1 second" : "\(count) seconds" }
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

  // Settings.
  static let settings = "Settings"
  static let delayed = "with delays"
  static let undelayed = "at once"
  static let gracePeriod = "Grace period"
  static let off = "off"
  static func graceDays(_ days: Int64, _ scope: String) -> String {
    "\(self.days(days)), \(Format.words(scope))"
  }
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
  static let asCurl = "With curl"
  static let sameAsCommand = "The same as a command"
  static let optional = "(optional)"
  static func failed(_ status: Int) -> String { "The sandbox responded with status \(status)." }
  static func notJSON(_ field: String) -> String { "\(field) is not a JSON object." }
  static func done(_ title: String) -> String { "Done: \(title)." }
  static let noNotification = "No notification followed."
  static func followed(_ count: Int) -> String {
    count == 1 ? "1 notification followed:" : "\(count) notifications followed:"
  }
  static let newAnswers = "The answers of the service:"
  static let sameAnswers = "The service answers as before."
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
