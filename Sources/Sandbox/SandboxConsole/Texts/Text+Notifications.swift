internal import AppStore
internal import Pages
internal import Sandbox

/// The texts of notifications, of the journal and of faults.
extension Text {
  // Notifications.
  static let notificationsTitle = "Notifications"
  static func allNotifications(_ total: Int) -> String { "All \(total) notifications" }
  static let nothingSent =
    "Nothing happened yet that Apple sends a notification about. It sends one about each purchase, renewal and refund."
  static let sentTo = "Sent to"
  static let sentNowhere = "No URL is set, so nothing is sent."
  static func versionOf(_ version: Int64) -> String { "version \(version)" }
  static func rules(_ rules: String) -> String { "Apple's rules for \(Format.words(rules))" }
  static let setURL = "Set the URL"
  static let sendTest = "Send a test notification"
  static let resend = "Send again"
  static let notSent = "not sent"
  static let pending = "pending"
  static let next = "next attempt"
  static func inMilliseconds(_ count: Int64) -> String { "in \(count) ms" }
  static func milliseconds(_ count: Int64) -> String { "\(count) ms" }
  static func result(_ result: SendAttemptResult) -> String { Format.words(result.rawValue) }
  static let noAttempt =
    "There was no attempt to deliver it: it is not due yet, it was lost, or no URL was set. Send it again."
  static let noContent = "No content is stored: it was not sent, and it cannot be rendered now."
  static let notLogged = "no longer logged"
  static let emptyResponse = "empty"
  static let bodySent = "The body as it was sent"
  static let bodyNow = "The body as it would be sent now"

  // Journal.
  static let journal = "Journal"
  static let journalHint = "What was done, latest first, and the notifications that followed."
  static let asScript = "As a script"
  static let withDeliveries = "Show deliveries and restarts, too"
  static let onlyActions = "Show only what was done"
  static let emptyJournal = "Nothing was done yet. Each operation and each step of the clock is a line here."
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
  static let noFaults = "No fault is set: notifications arrive, and Apple's interfaces answer. Set one below."
  static let addFault = "Set a fault with its count and duration"
  static let clearFaults = "Clear all faults"
  static let clear = "Clear"
  static func setFault(_ kind: String) -> String { "Set \(kind)" }
  static func every(_ every: Int64) -> String { every == 1 ? "each" : "1 of \(every)" }
  static let calls = "Calls of Apple's interfaces"
  static let callsHint = "Calls since the start of the process: the Server API, verifyReceipt and others."
  static let noCalls =
    "No call yet. Calls of the Server API, verifyReceipt and Apple's other interfaces are counted here."

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
}
