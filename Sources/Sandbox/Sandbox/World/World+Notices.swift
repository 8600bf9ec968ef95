internal import AppStore

extension World {
  /// Tells of a subscription as it is now, and tells those with whom it is shared.
  mutating func tell(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype? = nil, of line: SubscriptionLine
  ) {
    guard let transaction = current(of: line) else { return }
    tell(type, subtype, about: transaction)
    // Who does not pay redeems nothing: to them it is a change of plans.
    let type = type == .offerRedeemed ? .didChangeRenewalPref : type
    followPurchaser(line) { world, member in
      guard Self.isForMembers(type), let transaction = world.current(of: member) else { return }
      world.tell(type, subtype, about: transaction)
    }
  }

  /// Tells of one transaction.
  mutating func tell(
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
    let notice = SandboxNotification(
      uuid: takeUUID(), app: app, type: type, subtype: subtype, date: now, subject: subject,
      nextAttempt: isAwaited ? now : nil)
    if isAwaited { outbox.insert(notices.count) }
    notices.append(notice)
    return notice.uuid
  }

  /// When a notification is next to be sent; `nil`: there is none to send.
  var nextDelivery: Instant? { outbox.compactMap { notices[$0].nextAttempt }.min() }

  /// Those to be sent by now, in order.
  var dueNotices: [Int] {
    outbox.filter { notices[$0].nextAttempt.map { $0 <= now } ?? false }.sorted()
  }

  /// Remembers an attempt to deliver a notification, and when to try `next`: never, if it was delivered or is given
  /// up.
  mutating func attempted(_ notice: Int, _ result: SendAttemptResult, next: Instant?) {
    guard notices.indices.contains(notice) else { return }
    notices[notice].attempts.append(SandboxNotification.Attempt(date: now, result: result))
    notices[notice].nextAttempt = next
    if next == nil { outbox.remove(notice) }
  }

  /// Sends a notification later than it should be.
  mutating func postpone(_ notice: Int, to instant: Instant) {
    guard notices.indices.contains(notice) else { return }
    notices[notice].nextAttempt = instant
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
