package import AppStore

/// The processing state of a notification.
package enum NotificationState: String, Hashable, Sendable, CaseIterable {
  /// Verified, and applied to the facts.
  case applied = "APPLIED"
  /// Verified, but contains nothing newer than the stored facts.
  case superseded = "SUPERSEDED"
  /// Verified, but of a type that this version does not support.
  case unsupported = "UNSUPPORTED"
  /// Not verified, or not for this app.
  case rejected = "REJECTED"
  /// A version 1 notification, which has no signature and is not yet confirmed by a call to Apple.
  case unconfirmed = "UNCONFIRMED"
}

/// The queried members of a notification; the evidence contains the others.
package struct NotificationRecord: Hashable, Sendable {
  /// The evidence that contains the body.
  package var evidenceID: EvidenceID
  /// The operator's name for the app.
  package var appID: String
  /// `nil` if it could not be determined.
  package var environment: Environment?
  /// The version of App Store Server Notifications: 1 or 2.
  package var version: Int
  /// Apple's `notificationUUID`; empty for version 1.
  package var uuid: String
  /// Apple's `notificationType` and `subtype`.
  package var type: String
  /// Apple's `subtype`; empty without one.
  package var subtype: String
  /// The state of its processing.
  package var state: NotificationState
  /// The reason code for a rejection or a delay; otherwise empty.
  package var reason: String
  /// An explanation in one sentence.
  package var meaning: String
  /// The time of Apple's signature; `nil` if there is none.
  package var signedDate: Instant?
  /// The arrival time.
  package var receivedAt: Instant
  /// The subject of the notification; each member is empty if it does not apply.
  package var originalTransactionID: String
  /// Apple's `transactionId` that it is about; empty without one.
  package var transactionID: String
  /// The product that it is about; empty without one.
  package var productID: String

  /// Creates a record from its parts.
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

/// Selects notifications; a `nil` member matches all.
package struct NotificationFilter: Hashable, Sendable {
  package var appID: String
  /// Notifications that cannot be read name no environment, and belong to the lists of all.
  package var environment: Environment?
  /// Only notifications about this customer.
  package var customerID: String?
  /// Apple's `notificationType`.
  package var type: String?
  /// `nil` matches notifications in every state.
  package var state: NotificationState?
  /// The earliest arrival time, inclusive.
  package var from: Instant?
  /// The latest arrival time, exclusive.
  package var to: Instant?
  /// Selects only notifications with a lower evidence id.
  package var before: EvidenceID?
  /// The maximum number of notifications; at least 1.
  package var limit: Int

  /// Selects the latest `limit` notifications of an app.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// Stores notifications.
package protocol NotificationStore {
  /// Returns the notification with Apple's UUID; `nil` if it has not arrived.
  func notification(
    withUUID uuid: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> NotificationRecord?

  /// Returns the notification whose body is this evidence; `nil` if the evidence is something else.
  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord?

  /// Returns the accepted notifications of version 2 about a line that have one of these types, in order of arrival.
  func notifications(
    about line: LineKey, ofTypes types: [String]
  ) throws(StoreError) -> [NotificationRecord]

  /// Inserts a notification, or replaces its state.
  func put(_ notification: NotificationRecord) throws(StoreError)
}

/// Reads notifications in order of arrival.
package protocol NotificationReader: AnyObject {
  /// Returns at most `limit` notifications of an app in order of arrival, after `evidence`.
  func notifications(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord]

  /// Returns the evidence id of the last notification of any app; 0 if there is none.
  func lastNotification() throws(StoreError) -> Int64

  /// Returns at most `limit` purchase lines with notifications that were not rejected and arrived within a
  /// time span (end exclusive), ordered by line id, after `line`.
  func notifiedLines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// Returns at most `limit` notifications about a line that were not rejected and arrived within a time span
  /// (end exclusive), in order of arrival.
  func notifications(
    about line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord]
}
