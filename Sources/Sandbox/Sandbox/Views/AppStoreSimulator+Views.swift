internal import AppStore
internal import JSON
internal import SignedData

// The views of testers. Each call first advances the world to the present.
extension AppStoreSimulator {
  /// The sandbox's time, its speed, and what happens next: in the world, or the next attempt of a delivery.
  package func clockView() -> ClockView {
    catchUp()
    var next = world.nextEventView
    if poster != nil, let delivery = world.outbox.nextAttempt, next.map({ delivery < $0.at }) ?? true {
      next = NextEventView(at: delivery, kind: .delivery, account: nil, productId: nil)
    }
    return ClockView(now: world.now, speed: clock.setting.speed, next: next)
  }

  /// The accounts with the app, in the order of their names, at most `limit` after the name `after`; and the number of all.
  package func accountViews(in app: String, after: String = "", limit: Int) -> (
    views: [AccountView], total: Int
  ) {
    catchUp()
    let names = world.accountNames(in: app)
    let page = names.filter { $0 > after }.prefix(limit)
    return (page.compactMap { world.view(ofAccount: $0, in: app) }, names.count)
  }

  /// An account; `nil` if it does not exist.
  package func accountView(_ name: String, in app: String) -> (
    account: AccountView, history: AccountHistoryView
  )? {
    catchUp()
    guard let account = world.view(ofAccount: name, in: app) else { return nil }
    let indices = world.notifications.indices.filter {
      world.notifications[$0].app == app && world.notifications[$0].transaction?.account == name
    }
    let history = AccountHistoryView(
      transactions: world.transactionViews(ofAccount: name, in: app),
      failedPayments: world.failedPayments(ofAccount: name, in: app),
      notifications: indices.map(view))
    return (account, history)
  }

  /// The products of an app in the order of its catalog; empty for an unknown app.
  package func productViews(of app: String) -> [ProductView] {
    catchUp()
    return world.app(app).map(world.productViews) ?? []
  }

  /// The settings of an app; the defaults for an unknown one.
  package func settingsView(of app: String) -> SettingsView {
    catchUp()
    return world.settingsView(of: app)
  }

  /// The faults that are on. They do not depend on the time.
  package func faultViews() -> [FaultView] { faults.views }

  /// The calls of the server API and of `verifyReceipt` since the process began, by kind.
  package func callCounts() -> [CallCountView] { traffic.views }

  // MARK: Notifications

  /// The notifications of an app, latest first, at most `limit` after skipping `skip`; and the number of all.
  package func notificationViews(of app: String, skip: Int = 0, limit: Int) -> (
    views: [NotificationView], total: Int
  ) {
    catchUp()
    let indices = world.notifications.indices.filter { world.notifications[$0].app == app }
    return (indices.reversed().dropFirst(skip).prefix(limit).map(view), indices.count)
  }

  /// A notification with its content; `nil` if it does not exist.
  package func notificationView(_ uuid: String) -> (
    notification: NotificationView, body: NotificationBodyView?
  )? {
    catchUp()
    guard let index = world.notifications.indices.last(where: { world.notifications[$0].uuid == uuid }) else {
      return nil
    }
    return (view(ofNotification: index), bodyView(ofNotification: index))
  }

  /// The body that was sent last, or if it is no longer logged the one that would be sent now; `nil` if neither can be
  /// made.
  private func bodyView(ofNotification index: Int) -> NotificationBodyView? {
    let notification = world.notifications[index]
    let attempts = notification.attempts.indices.reversed()
    let sent = attempts.compactMap { deliveryLog[notification: index, attempt: $0]?.sent }
      .first { !$0.isEmpty }
    guard let bytes = sent ?? body(of: notification),
      let json = try? JSONValue(parsing: bytes).objectValue
    else { return nil }
    let signed = json["signedPayload"]?.stringValue
    return NotificationBodyView(
      body: String(decoding: bytes, as: UTF8.self), wasSent: sent != nil,
      payload: signed.map { Self.decoded(.string($0)).objectValue ?? json } ?? json)
  }

  /// A value in which each signed document is replaced by its payload.
  static func decoded(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text) where text.hasPrefix("eyJ"):
      (try? UnverifiedJWS(text)).map { decoded(.object($0.payload)) } ?? value
    case .array(let values): .array(values.map(decoded))
    case .object(let object): .object(JSONObject(object.map { ($0.name, decoded($0.value)) }))
    default: value
    }
  }

  /// A notification with what is still logged about its attempts.
  private func view(ofNotification index: Int) -> NotificationView {
    let notification = world.notifications[index]
    let sold = notification.transaction
    return NotificationView(
      uuid: notification.uuid, app: notification.app, name: notification.name, version: notification.version,
      date: notification.date, account: sold?.account, productId: sold?.productID,
      transactionId: sold.map { String($0.id) }, originalTransactionId: sold.map { String($0.originalID) },
      attempts: notification.attempts.enumerated().map { number, attempt in
        let exchange = deliveryLog[notification: index, attempt: number]
        return AttemptView(
          date: attempt.date, result: attempt.result, status: exchange?.response.status,
          milliseconds: exchange.flatMap { $0.url.isEmpty ? nil : $0.milliseconds },
          response: exchange.map { String(decoding: $0.response.body, as: UTF8.self) },
          url: exchange.flatMap { $0.url.isEmpty ? nil : $0.url })
      }, nextAttempt: notification.nextAttempt)
  }

  // MARK: Journal

  /// The entries of the journal after the one with the number `after`, oldest first, at most `limit`; the number of all; and
  /// the number of the first available one.
  package func journalViews(after: Int, limit: Int) -> (views: [JournalLineView], total: Int, first: Int) {
    catchUp()
    let lines = history.lines.drop { $0.number <= after }.prefix(limit)
    return (lines.map(view), history.count, history.lines.first?.number ?? 1)
  }

  /// The number of the latest entry of the journal.
  package var journalEnd: Int { history.count }

  /// An entry of the journal, with UUIDs in place of indices.
  private func view(_ line: JournalHistory.Line) -> JournalLineView {
    func uuid(_ index: Int) -> String {
      world.notifications.indices.contains(index) ? world.notifications[index].uuid : ""
    }
    let entry: JournalLineView.Entry =
      switch line.entry {
      case .opened, .origin: .opened
      case .clock(let setting):
        line.changesSpeed ? .speed(setting.speed) : .advanced(to: setting.sandbox)
      case .action(let action, _): .action(action, line.portable)
      case .passed, .advancing: .passed
      case .attempt(let index, let result, _): .attempt(uuid: uuid(index), result)
      case .postponed(let index, let instant): .postponed(uuid: uuid(index), to: instant)
      }
    let caused = line.notifications.clamped(to: 0..<world.notifications.count)
    return JournalLineView(
      number: line.number, at: line.at, entry: entry, notifications: caused.map(view))
  }

  // MARK: Delivery

  /// Delivers what is due, and returns when that is done or after `milliseconds` of machine time.
  package func deliverDue(waitingAtMost milliseconds: Int64) async {
    guard poster != nil else { return }
    let (done, continuation) = AsyncStream.makeStream(of: Void.self)
    Task {
      await processDue()
      continuation.finish()
    }
    let limit = Task {
      try? await Task.sleep(for: .milliseconds(milliseconds))
      continuation.finish()
    }
    for await _ in done {}
    limit.cancel()
  }
}
