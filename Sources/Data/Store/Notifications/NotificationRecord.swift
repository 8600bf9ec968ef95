package import AppStore

/// What became of a notification.
package enum NotificationState: String, Hashable, Sendable, CaseIterable {
  /// Genuine, and what it says is in the state.
  case applied = "APPLIED"
  /// Genuine, and nothing in it is newer than what was known.
  case superseded = "SUPERSEDED"
  /// Genuine, of a type that this version does not know.
  case unsupported = "UNSUPPORTED"
  /// Not genuine, or not for this app.
  case rejected = "REJECTED"
  /// Version 1: nobody signed it, and Apple was not asked yet.
  case unconfirmed = "UNCONFIRMED"
}

/// One notification of Apple's, as far as it is asked for: the rest is in its evidence.
package struct NotificationRecord: Hashable, Sendable {
  /// Under which number its body is kept.
  package var evidenceID: EvidenceID
  package var appID: String
  /// `nil` if it could not be established.
  package var environment: Environment?
  /// 1 or 2.
  package var version: Int
  /// Apple's `notificationUUID`; empty for version 1.
  package var uuid: String
  /// Apple's words.
  package var type: String
  package var subtype: String
  package var state: NotificationState
  /// Why it was rejected, or waits; else empty.
  package var reason: String
  /// What it means, in a sentence.
  package var meaning: String
  /// When Apple signed it; `nil` if it did not.
  package var signedDate: Instant?
  /// When it arrived.
  package var receivedAt: Instant
  /// What it is about; empty where it is about nothing of the kind.
  package var originalTransactionID: String
  package var transactionID: String
  package var productID: String

  /// A record by its parts.
  package init(
    evidenceID: EvidenceID, appID: String, environment: Environment?, version: Int, uuid: String = "",
    type: String = "", subtype: String = "", state: NotificationState, reason: String = "",
    meaning: String = "", signedDate: Instant? = nil, receivedAt: Instant,
    originalTransactionID: String = "", transactionID: String = "", productID: String = ""
  ) {
    self.evidenceID = evidenceID
    self.appID = appID
    self.environment = environment
    self.version = version
    self.uuid = uuid
    self.type = type
    self.subtype = subtype
    self.state = state
    self.reason = reason
    self.meaning = meaning
    self.signedDate = signedDate
    self.receivedAt = receivedAt
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.productID = productID
  }
}

/// Which notifications are asked for; what is `nil` excludes none.
package struct NotificationFilter: Hashable, Sendable {
  package var appID: String
  package var environment: Environment?
  package var customerID: String?
  package var type: String?
  package var state: NotificationState?
  /// Received from then on.
  package var from: Instant?
  /// Received before then.
  package var to: Instant?
  /// Only those that arrived before this one.
  package var before: EvidenceID?
  package var limit: Int

  /// The latest `limit` notifications of an app.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// Keeps what is asked of notifications.
package protocol NotificationStore {
  /// The notification that Apple gave this UUID; `nil` if it did not arrive yet.
  func notification(
    withUUID uuid: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> NotificationRecord?

  /// The notification whose body is this evidence.
  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord?

  /// Remembers a notification, or what became of it since.
  func put(_ notification: NotificationRecord) throws(StoreError)
}

/// Reads which notifications arrived, in the order in which they did.
package protocol NotificationReader: AnyObject {
  /// At most `limit` notifications of an app in the order of their arrival, beginning behind `evidence`.
  func notifications(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord]

  /// The number of the last notification's evidence, whosever it is; 0 if there is none.
  func lastNotification() throws(StoreError) -> Int64

  /// At most `limit` purchase lines of which notifications that were not rejected told, received from a moment
  /// on and before another, in the order of their numbers, beginning behind `line`.
  func notifiedLines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// At most `limit` notifications about a line that were not rejected, received from a moment on and before
  /// another, in the order of their arrival.
  func notifications(
    about line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord]
}
