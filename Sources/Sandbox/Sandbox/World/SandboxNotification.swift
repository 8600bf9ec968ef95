internal import AppStore

/// A notification that the App Store has to tell a developer's server, and what became of it.
struct SandboxNotification: Hashable, Sendable {
  /// What it is about, as it was when it happened.
  enum Subject: Hashable, Sendable {
    case purchase(SoldTransaction, SubscriptionLine?, ConsumptionRequestReason?)
    case massExtension(MassExtension)
    /// Seats that were given up, by the purchaser's transaction.
    case unclaimedSeats(SoldTransaction, [String])
    case test
  }

  /// One attempt to deliver it.
  struct Attempt: Hashable, Sendable {
    let date: Instant
    let result: SendAttemptResult
  }

  /// `notificationUUID`.
  let uuid: String
  let app: String
  let type: NotificationTypeV2
  let subtype: NotificationSubtype?
  /// When it happened: the `signedDate`.
  let date: Instant
  let subject: Subject
  var attempts: [Attempt] = []
  /// When it is to be sent next; `nil`: delivered, given up, or there is nowhere to send it.
  var nextAttempt: Instant?

  /// The purchase that it is about.
  var transaction: SoldTransaction? {
    switch subject {
    case .purchase(let transaction, _, _), .unclaimedSeats(let transaction, _): transaction
    case .massExtension, .test: nil
    }
  }
}

/// Renewal dates moved for all subscribers of a product at once.
struct MassExtension: Hashable, Sendable {
  let requestIdentifier: String
  let app: String
  let productID: String
  /// Empty: all.
  let storefronts: [String]
  let completed: Instant
  let succeeded: Int64
  let failed: Int64
}
