internal import AppStore

extension World {
  /// Creates notifications about a subscription, for the purchaser and for the members.
  mutating func notify(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, of line: SubscriptionLine
  ) {
    guard let transaction = current(of: line) else { return }
    notify(type, subtype, about: transaction)
    // Members do not redeem offers: they see a change of product.
    let type = type == .offerRedeemed ? .didChangeRenewalPref : type
    followPurchaser(line) { world, member in
      guard Self.isForMembers(type), let transaction = world.current(of: member) else { return }
      world.notify(type, subtype, about: transaction)
    }
  }

  /// Creates a notification about a transaction.
  mutating func notify(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, about transaction: SoldTransaction,
    reason: ConsumptionRequestReason? = nil
  ) {
    let line = lines[transaction.originalID]
    post(type, subtype, of: transaction.app, .purchase(transaction, line, reason))
  }

  /// Adds a notification to the outbox.
  ///
  /// - Returns: its `notificationUUID`.
  @discardableResult
  mutating func post(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype?, of app: String,
    _ subject: SandboxNotification.Subject
  ) -> String {
    let isAwaited = settings[app]?.notificationTarget != nil
    let notification = SandboxNotification(
      uuid: makeUUID(), app: app, type: type, subtype: subtype, date: now, subject: subject,
      nextAttempt: isAwaited ? now : nil)
    if isAwaited { outbox.insert(notifications.count) }
    notifications.append(notification)
    return notification.uuid
  }

  /// The time of the next delivery; `nil` if none is pending.
  var nextDelivery: Instant? { outbox.compactMap { notifications[$0].nextAttempt }.min() }

  /// The indices of notifications that are due, in order.
  var dueNotifications: [Int] {
    outbox.filter { notifications[$0].nextAttempt.map { $0 <= now } ?? false }.sorted()
  }

  /// Records a delivery attempt. `next` is the time of the next attempt; `nil` after success or the last
  /// attempt.
  mutating func recordAttempt(of index: Int, _ result: SendAttemptResult, next: Instant?) {
    guard notifications.indices.contains(index) else { return }
    notifications[index].attempts.append(SandboxNotification.Attempt(date: now, result: result))
    notifications[index].nextAttempt = next
    if next == nil { outbox.remove(index) }
  }

  /// Postpones the delivery of a notification.
  mutating func postpone(_ index: Int, to instant: Instant) {
    guard notifications.indices.contains(index) else { return }
    notifications[index].nextAttempt = instant
  }

  /// Whether members are notified, too. Types that concern only the payer are not for them.
  private static func isForMembers(_ type: NotificationTypeV2) -> Bool {
    switch type {
    case .didRenew, .didFailToRenew, .didChangeRenewalPref, .didChangeRenewalStatus, .gracePeriodExpired,
      .expired, .renewalExtended:
      true
    default: false
    }
  }
}

/// A server notification with its delivery attempts.
struct SandboxNotification: Hashable, Sendable {
  /// The content, as of the notification's date.
  enum Subject: Hashable, Sendable {
    case purchase(SoldTransaction, SubscriptionLine?, ConsumptionRequestReason?)
    case massExtension(MassExtension)
    /// The released seats of the purchaser's transaction.
    case unclaimedSeats(SoldTransaction, [String])
    case test
  }

  /// A delivery attempt.
  struct Attempt: Hashable, Sendable {
    let date: Instant
    let result: SendAttemptResult
  }

  /// The `notificationUUID`.
  let uuid: String
  let app: String
  let type: NotificationTypeV2
  let subtype: NotificationSubtype?
  /// The `signedDate`.
  let date: Instant
  let subject: Subject
  var attempts: [Attempt] = []
  /// The time of the next attempt; `nil` if it was delivered or abandoned, or if no URL is set.
  var nextAttempt: Instant?

  /// The transaction of the notification.
  var transaction: SoldTransaction? {
    switch subject {
    case .purchase(let transaction, _, _), .unclaimedSeats(let transaction, _): transaction
    case .massExtension, .test: nil
    }
  }
}

/// The result of extending the renewal dates of all subscribers of a product.
struct MassExtension: Hashable, Sendable {
  let requestIdentifier: String
  let app: String
  let productID: String
  /// Empty means all.
  let storefronts: [String]
  let completed: Instant
  let succeeded: Int64
  let failed: Int64
}
