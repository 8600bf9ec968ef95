internal import AppStore

extension World {
  /// Creates notifications about a subscription, for the purchaser and for the members. The members' subscriptions
  /// follow the purchaser's at the same time, so a caller must have stored the change before.
  mutating func notify(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, of line: SubscriptionLine
  ) {
    guard let transaction = current(of: line) else { return }
    notify(type, subtype, about: transaction)
    // Members do not redeem offers: they see a change of product.
    notifyMembers(type == .offerRedeemed ? .didChangeRenewalPref : type, subtype, of: line)
  }

  /// Creates the notifications for the members.
  mutating func notifyMembers(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, of line: SubscriptionLine
  ) {
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

  /// Adds the notifications of an event to the outbox: one of version 2, or those that version 1 has for it, which may
  /// be none.
  ///
  /// - Returns: the `notificationUUID` of version 2; version 1 has none, so its notifications get others.
  @discardableResult
  mutating func post(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype?, of app: String,
    _ subject: SandboxNotification.Subject
  ) -> String {
    let uuid = makeUUID()
    let date = subject.purchase.map { signingDates.next(of: $0, at: now) } ?? now
    // The test notification has version 2 whatever the URL expects (Apple: Request a Test Notification).
    guard settings[app]?.notificationTarget?.version == 1, subject != .test else {
      add(
        SandboxNotification(uuid: uuid, app: app, type: type, subtype: subtype, date: date, subject: subject))
      return uuid
    }
    for typeV1 in version1Types(type, subtype, subject) {
      add(
        SandboxNotification(
          uuid: makeUUID(), app: app, type: type, subtype: subtype, typeV1: typeV1, date: date,
          subject: subject))
    }
    return uuid
  }

  /// Adds a notification with what its documents shall say of this instant; without a URL of the app it is never
  /// sent.
  private mutating func add(_ notification: SandboxNotification) {
    var notification = notification
    if case .purchase(let transaction, let line, _) = notification.subject {
      let account = accounts[transaction.account]
      notification.circumstances = .init(
        install: account?.appInstalls[transaction.app], storefront: account?.storefront ?? .usa,
        winBackOffers: line.map(winBackOffers) ?? [],
        renewalPriceTiers: line.map(renewalPriceTiers) ?? [])
    }
    if settings[notification.app]?.notificationTarget != nil {
      notification.nextAttempt = now
      switch settings[notification.app]?.delivery.delays?.fate(of: notifications.count) {
      case .after(let milliseconds)?:
        notification.nextAttempt = now.advanced(byMilliseconds: milliseconds)
      case .lost?: notification.isLost = true
      case nil: break
      }
    }
    outbox[notifications.count] = notification.nextAttempt
    notifications.append(notification)
  }

  /// The index of the first notification that can have a date from `start` on, by binary search.
  ///
  /// Notifications are in the order of the times at which they were added. A date is at most one millisecond for each
  /// notification later than that time (``SigningDates``).
  func firstNotification(from start: Instant) -> Int {
    let bound = start.advanced(byMilliseconds: -Int64(notifications.count))
    return (0..<notifications.count).firstInOrder { notifications[$0].date >= bound }
  }

  /// Records a delivery attempt. `next` is the time of the next attempt; `nil` after success or the last
  /// attempt.
  mutating func recordAttempt(of index: Int, _ result: SendAttemptResult, next: Instant?) {
    guard notifications.indices.contains(index) else { return }
    notifications[index].attempts.append(SandboxNotification.Attempt(date: now, result: result))
    schedule(index, at: next)
  }

  /// Sends a notification again now, also one that was lost or delivered. The text `#N` names the Nth notification.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` for an unknown notification, and for an app without a URL.
  mutating func resendNotification(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let uuid = try parameters.string("notificationUUID")
    let ordinal = Self.index(ofOrdinal: uuid).flatMap { notifications.indices.contains($0) ? $0 : nil }
    guard let index = notifications.indices.last(where: { notifications[$0].uuid == uuid }) ?? ordinal else {
      throw .notPossible("unknown notification \(uuid.debugDescription)")
    }
    let app = notifications[index].app
    guard settings[app]?.notificationTarget != nil else {
      throw .notPossible("\(app) has no notification URL; set it with 'notification-url'")
    }
    notifications[index].isLost = false
    schedule(index, at: now)
    return Outcome(members: [("notificationUUID", notifications[index].uuid)])
  }

  /// Postpones the delivery of a notification.
  mutating func postpone(_ index: Int, to instant: Instant) {
    guard outbox[index] != nil else { return }
    schedule(index, at: instant)
  }

  private mutating func schedule(_ index: Int, at next: Instant?) {
    notifications[index].nextAttempt = next
    outbox[index] = next
  }

  /// Whether members are notified, too. Types that concern only the payer are not for them. A new purchase during
  /// billing retry renews their subscriptions, too (Apple: notificationType, `SUBSCRIBED`).
  private static func isForMembers(_ type: NotificationTypeV2) -> Bool {
    switch type {
    case .subscribed, .didRenew, .didFailToRenew, .didChangeRenewalPref, .didChangeRenewalStatus,
      .gracePeriodExpired,
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
    /// A transaction with the state of its subscription, and the reason of a consumption request.
    case purchase(SoldTransaction, SubscriptionLine?, ConsumptionRequestReason?)
    /// The summary of a mass extension.
    case massExtension(MassExtension)
    /// The released seats of the purchaser's transaction.
    case unclaimedSeats(SoldTransaction, [String])
    /// An external purchase token.
    case externalPurchase(ExternalToken)
    /// Neither a purchase nor a token; the developer requested it.
    case test

    /// The original transaction id of the purchase; `nil` if it is not about one.
    var purchase: Int64? {
      switch self {
      case .purchase(let transaction, _, _), .unclaimedSeats(let transaction, _): transaction.originalID
      case .massExtension, .externalPurchase, .test: nil
      }
    }
  }

  /// A delivery attempt.
  struct Attempt: Hashable, Sendable {
    let date: Instant
    let result: SendAttemptResult
  }

  /// Properties of the account on the notification's date that its documents contain. Records of the notification
  /// history reflect the state when the notification was first sent (Apple: Get Notification History).
  struct Circumstances: Hashable, Sendable {
    let install: AppInstall?
    let storefront: Storefront
    let winBackOffers: [String]
    let renewalPriceTiers: [SeatPriceTier]
  }

  /// The `notificationUUID`.
  let uuid: String
  let app: String
  let type: NotificationTypeV2
  let subtype: NotificationSubtype?
  /// The type of a version 1 notification, otherwise `nil`.
  var typeV1: NotificationTypeV1?
  /// The `signedDate`.
  let date: Instant
  let subject: Subject
  /// `nil` if the notification is not about a purchase.
  var circumstances: Circumstances?
  /// Whether the notification never arrives.
  var isLost = false
  /// Oldest first.
  var attempts: [Attempt] = []
  /// The time of the next attempt; `nil` if it was delivered or abandoned, or if no URL is set.
  var nextAttempt: Instant?

  /// The transaction of the notification.
  var transaction: SoldTransaction? {
    switch subject {
    case .purchase(let transaction, _, _), .unclaimedSeats(let transaction, _): transaction
    case .massExtension, .externalPurchase, .test: nil
    }
  }

  /// The version of the notification.
  var version: Int64 { typeV1 == nil ? 2 : 1 }

  /// The type and subtype, such as `DID_RENEW/BILLING_RECOVERY`.
  var name: String {
    typeV1?.rawValue ?? subtype.map { "\(type.rawValue)/\($0.rawValue)" } ?? type.rawValue
  }
}
