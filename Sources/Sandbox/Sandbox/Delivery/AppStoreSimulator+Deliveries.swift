internal import AppStore
internal import JSON
internal import SignedData

/// Time, and notifications on their way.
extension AppStoreSimulator {
  /// Lets time pass by the clock, and sends what is due when it is due, until the task is cancelled. What is being
  /// sent then is broken off, and sent again when the sandbox is back.
  package func run() async {
    await withTaskCancellationHandler {
      while !Task.isCancelled {
        await processDue()
        let wait = nextEvent.flatMap { clock.milliseconds(until: $0) } ?? Self.maxWait
        await pause(milliseconds: min(max(wait, 1), Self.maxWait))
      }
    } onCancel: {
      Task { await cancelDelivery() }
    }
  }

  private func cancelDelivery() { delivery?.cancel() }

  private static let maxWait: Int64 = 3_600_000

  /// Turns the clock: everything on the way happens at its moment, and every notification is sent when it is due,
  /// before the next thing happens.
  func advanceClock(to target: Instant) async throws(SandboxError) {
    while let next = nextEvent, next <= target {
      clock.set(to: next)
      world.advance(to: clock.now())
      await deliver()
    }
    try await arrive(at: target, concurrency: 1)
  }

  /// Turns the clock in one go: everything on the way happens at its moment, and what is to be told of it is sent at
  /// the end, so many outgoing at a time.
  func advanceClock(by milliseconds: Int64, concurrency: Int) async throws(SandboxError) {
    try await arrive(at: clock.now().advanced(byMilliseconds: milliseconds), concurrency: concurrency)
  }

  private func arrive(at target: Instant, concurrency: Int) async throws(SandboxError) {
    clock.set(to: target)
    world.advance(to: clock.now())
    try persist(.clock(clock.setting))
    await deliver(concurrency)
    wake()
  }

  /// When something will next happen or is to be sent.
  private var nextEvent: Instant? {
    [world.nextChange, poster == nil ? nil : world.nextDelivery].compactMap { $0 }.min()
  }

  /// Does what the clock says is due, and sends what is to be sent.
  private func processDue() async {
    catchUp()
    await deliver()
  }

  /// Sends what is due, in order: one at a time, or so many of different purchases at once. Who comes while others
  /// are sent waits for them first.
  private func deliver(_ concurrency: Int = 1) async {
    while let delivery { await delivery.value }
    guard poster != nil, !Task.isCancelled else { return }
    let task = Task {
      while !Task.isCancelled, case let outgoing = nextToSend(concurrency), !outgoing.isEmpty {
        await send(outgoing)
      }
      if journal.hasUnwrittenEntries { try? persist() }
      delivery = nil
    }
    delivery = task
    await task.value
  }

  /// The notifications whose turn it is, with the faults that concern order and time.
  private func nextToSend(_ limit: Int) -> [Int] {
    var due = world.dueNotifications[...]
    if due.count > 1, faults.take(.reorder) != nil { due = due.dropFirst() }
    var outgoing: [Int] = []
    var purchases: Set<Int64?> = []
    for index in due where outgoing.count < limit {
      // Those about one purchase follow each other.
      let purchase = world.notifications[index].transaction?.originalID
      guard !purchases.contains(purchase) else { continue }
      if let length = faults.take(.delay) {
        let later = world.now.advanced(byMilliseconds: length)
        world.postpone(index, to: later)
        journal.record(.postponed(notification: index, to: later), at: world.now)
        continue
      }
      purchases.insert(purchase)
      outgoing.append(index)
    }
    return outgoing
  }

  /// Sends them, and remembers what came of it in their order. Nothing came of what is broken off.
  private func send(_ outgoing: [Int]) async {
    let posted = outgoing.map { index in
      let message = outgoingNotification(at: index)
      return (index, message, Task { [poster] in await message.post(by: poster) })
    }
    for (index, message, posting) in posted {
      let result = await withTaskCancellationHandler {
        await posting.value
      } onCancel: {
        posting.cancel()
      }
      if Task.isCancelled, result != .success { continue }
      let isOver = message.isUnsent || result == .success
      let next = isOver ? nil : retry(world.notifications[index])
      world.recordAttempt(of: index, result, next: next)
      journal.record(.attempt(notification: index, result, next: next), at: world.now)
    }
    // A journal that cannot be written is told to the next tester who changes something.
    try? persist()
  }

  /// What is sent as a notification, with the faults that concern it.
  private func outgoingNotification(at index: Int) -> OutgoingNotification {
    let notification = world.notifications[index]
    guard let target = world.settings[notification.app]?.notificationTarget, poster != nil else {
      return .unsent(.other)
    }
    if faults.take(.drop) != nil { return .unsent(.noResponse) }
    // Of some things version 1 does not tell.
    guard let body = body(of: notification, version: target.version) else { return .unsent(.success) }
    return .sent(body, url: target.url, count: faults.take(.duplicate) == nil ? 1 : 2)
  }

  /// Apple's schedule: hours after each attempt until the next.
  private func retry(_ notification: SandboxNotification) -> Instant? {
    let isVersion1 = world.settings[notification.app]?.notificationTarget?.version == 1
    let hours: [Int64] = isVersion1 ? [6, 24, 48] : [1, 12, 24, 48, 72]
    guard notification.attempts.count < hours.count else { return nil }
    return world.now.advanced(byMilliseconds: hours[notification.attempts.count] * 3_600_000)
  }

  private func body(of notification: SandboxNotification, version: Int64) -> [UInt8]? {
    if version == 1 {
      guard let app = world.app(notification.app) else { return nil }
      let body = try? legacyDocument(of: app).notification(notification)
      return body?.serialized()
    }
    guard var signed = try? signedPayload(of: notification) else { return nil }
    if let forge = takeForgery() { signed = forge(signed) }
    return JSONObject([("signedPayload", .string(signed))]).serialized()
  }
}

/// A notification on its way.
private enum OutgoingNotification: Sendable {
  /// Nothing is sent, and this is told to have come of it.
  case unsent(SendAttemptResult)
  /// The same as often as `count` says.
  case sent([UInt8], url: String, count: Int)

  var isUnsent: Bool { if case .unsent = self { true } else { false } }

  func post(by poster: (any NotificationPoster)?) async -> SendAttemptResult {
    switch self {
    case .unsent(let result): return result
    case .sent(let body, let url, let count):
      var result = SendAttemptResult.other
      for _ in 0..<count { result = await poster?.post(body, to: url) ?? result }
      return result
    }
  }
}
