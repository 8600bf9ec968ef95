internal import AppStore

extension World {
  /// Tells of a subscription as it is now, and tells those with whom it is shared.
  mutating func notify(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, of line: SubscriptionLine
  ) {
    guard let transaction = current(of: line) else { return }
    notify(type, subtype, about: transaction)
    // Who does not pay redeems nothing: to them it is a change of plans.
    let type = type == .offerRedeemed ? .didChangeRenewalPref : type
    followPurchaser(line) { world, member in
      guard Self.isForMembers(type), let transaction = world.current(of: member) else { return }
      world.notify(type, subtype, about: transaction)
    }
  }

  /// Tells of one transaction.
  mutating func notify(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, about transaction: SoldTransaction,
    reason: ConsumptionRequestReason? = nil
  ) {
    let line = lines[transaction.originalID]
    post(type, subtype, of: transaction.app, .purchase(transaction, line, reason))
  }

  /// Puts a notification in the outbox.
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

  /// When a notification is next to be sent; `nil`: there is none to send.
  var nextDelivery: Instant? { outbox.compactMap { notifications[$0].nextAttempt }.min() }

  /// Those to be sent by now, in order.
  var dueNotifications: [Int] {
    outbox.filter { notifications[$0].nextAttempt.map { $0 <= now } ?? false }.sorted()
  }

  /// Remembers an attempt to deliver a notification, and when to try `next`: never, if it was delivered or is given
  /// up.
  mutating func recordAttempt(of index: Int, _ result: SendAttemptResult, next: Instant?) {
    guard notifications.indices.contains(index) else { return }
    notifications[index].attempts.append(SandboxNotification.Attempt(date: now, result: result))
    notifications[index].nextAttempt = next
    if next == nil { outbox.remove(index) }
  }

  /// Sends a notification later than it should be.
  mutating func postpone(_ index: Int, to instant: Instant) {
    guard notifications.indices.contains(index) else { return }
    notifications[index].nextAttempt = instant
  }

  /// What Apple tells of members too: not what concerns only the one who pays.
  private static func isForMembers(_ type: NotificationTypeV2) -> Bool {
    switch type {
    case .didRenew, .didFailToRenew, .didChangeRenewalPref, .didChangeRenewalStatus, .gracePeriodExpired,
      .expired, .renewalExtended:
      true
    default: false
    }
  }
}
