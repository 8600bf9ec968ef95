internal import AppStore
internal import JSON
internal import SignedData

/// The passage of time and the delivery of notifications.
extension AppStoreSimulator {
  /// Advances the world with the clock and delivers due notifications until the task is cancelled.
  /// Cancellation aborts the delivery in flight, which stays pending.
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

  /// Cancels the delivery in flight; it ends soon after.
  private func cancelDelivery() { delivery?.cancel() }

  /// An hour, in milliseconds.
  private static let maxWait: Int64 = 3_600_000

  /// Advances the clock step by step: each notification is delivered at its own time, before the next event. The
  /// journal gets the time of each step before its deliveries, and the clock's setting at the end.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` if the clock stops before the target, or a reset or restore replaced the
  ///   world meanwhile; the errors of the journal.
  func advanceClock(to target: Instant) async throws(SandboxError) {
    try Self.checkReachable(target)
    let generation = generation
    while let next = nextEvent, next <= target {
      clock.set(to: next)
      world.advance(to: clock.now())
      try persist(.advancing)
      await deliver()
      guard generation == self.generation else {
        throw .actionFailed(.notPossible("the world began again while its clock advanced"))
      }
    }
    try await finishAdvance(to: target, concurrency: 1)
  }

  /// Aborts the delivery in flight, before the world begins again.
  func stopDelivery() async {
    while let delivery {
      delivery.cancel()
      await delivery.value
    }
  }

  /// Advances the clock in one step and then delivers the notifications, at most `concurrency` at a time.
  func advanceClock(by milliseconds: Int64, concurrency: Int) async throws(SandboxError) {
    let target = clock.now().advanced(byMilliseconds: milliseconds)
    try Self.checkReachable(target)
    try await finishAdvance(to: target, concurrency: concurrency)
  }

  /// Requires that the clock does not stop before `target`.
  static func checkReachable(_ target: Instant) throws(SandboxError) {
    guard target <= SandboxClock.latest else {
      throw .actionFailed(.notPossible("the clock stops at \(SandboxClock.latest)"))
    }
  }

  /// Sets the clock to its target, records that, and delivers what is due.
  private func finishAdvance(to target: Instant, concurrency: Int) async throws(SandboxError) {
    clock.set(to: target)
    world.advance(to: clock.now())
    try persist(.clock(clock.setting))
    await deliver(concurrency)
    wake()
  }

  /// The time of the next event or delivery.
  var nextEvent: Instant? {
    [world.nextChange, poster == nil ? nil : world.outbox.nextAttempt].compactMap { $0 }.min()
  }

  /// Processes all events that are due and delivers the notifications. It returns when all attempts have ended, which
  /// may take as long as the developer's server does.
  func processDue() async {
    catchUp()
    await deliver()
  }

  /// Delivers due notifications in order, at most `concurrency` at a time, never two of one purchase. A
  /// second call waits for the first one.
  private func deliver(_ concurrency: Int = 1) async {
    while let delivery { await delivery.value }
    guard poster != nil, !Task.isCancelled else { return }
    let task = Task {
      while !Task.isCancelled, case let indices = nextToSend(concurrency), !indices.isEmpty {
        await send(indices)
      }
      if journal.hasUnwrittenEntries { try? persist() }
      delivery = nil
    }
    delivery = task
    await task.value
  }

  /// Returns the indices of the notifications to send next, after applying the `reorder` and `delay` faults.
  private func nextToSend(_ limit: Int) -> [Int] {
    var taken: [Int] = []
    var indices: [Int] = []
    var purchases: Set<Int64?> = []
    while indices.count < limit, let index = world.outbox.take(dueAt: world.now) {
      taken.append(index)
      if taken.count == 1, world.outbox.isDue(at: world.now), faults.take(.reorder) != nil { continue }
      // Notifications of one purchase are sent one after the other.
      let purchase = world.notifications[index].transaction?.originalID
      guard !purchases.contains(purchase) else { continue }
      if let length = faults.take(.delay) {
        let later = world.now.advanced(byMilliseconds: length)
        world.postpone(index, to: later)
        record(.postponed(notification: index, to: later))
        continue
      }
      purchases.insert(purchase)
      indices.append(index)
    }
    for index in taken { world.outbox.putBack(index) }
    return indices
  }

  /// Sends the notifications and records the results in order. A cancelled attempt is not recorded.
  private func send(_ indices: [Int]) async {
    let posted = indices.map { index in
      let message = outgoingNotification(at: index)
      return (index, message, Task { [poster, clock] in await message.post(by: poster, clock) })
    }
    for (index, message, posting) in posted {
      let exchange = await withTaskCancellationHandler {
        await posting.value
      } onCancel: {
        posting.cancel()
      }
      let result = exchange.response.result
      if Task.isCancelled, result != .success { continue }
      let isOver = message.isUnsent || result == .success
      let next = isOver ? nil : retry(world.notifications[index])
      deliveryLog.record(
        exchange, ofNotification: index, attempt: world.notifications[index].attempts.count)
      world.recordAttempt(of: index, result, next: next)
      record(.attempt(notification: index, result, next: next))
    }
    // A failed write is reported by the next action.
    try? persist()
  }

  /// Builds the message for a notification and applies the delivery faults.
  private func outgoingNotification(at index: Int) -> OutgoingNotification {
    let notification = world.notifications[index]
    guard let target = world.settings[notification.app]?.notificationTarget, poster != nil else {
      return .unsent(.other)
    }
    if notification.isLost || faults.take(.drop) != nil { return .unsent(.noResponse) }
    guard let body = body(of: notification, applying: takeSignatureFault) else { return .unsent(.other) }
    return .sent(body, url: target.url, count: faults.take(.duplicate) == nil ? 1 : 2)
  }

  /// Returns the time of the next attempt by the rules of the app's environment, or `nil` after the last one.
  private func retry(_ notification: SandboxNotification) -> Instant? {
    let rules = world.settings[notification.app]?.delivery.rules ?? .sandbox
    let hours = rules.retryHours(version: notification.version)
    guard notification.attempts.count < hours.count else { return nil }
    return world.now.advanced(byMilliseconds: hours[notification.attempts.count] * 3_600_000)
  }

  /// The body of a notification; `nil` if its documents cannot be signed. `fault` returns a change of its signature.
  func body(
    of notification: SandboxNotification, applying fault: () -> ((String) -> String)? = { nil }
  ) -> [UInt8]? {
    if let type = notification.typeV1 {
      guard let app = world.app(notification.app) else { return nil }
      let body = try? legacyDocument(of: app).notification(notification, as: type)
      return body?.serialized()
    }
    guard var signed = try? signedPayload(of: notification) else { return nil }
    if let change = fault() { signed = change(signed) }
    return JSONObject([("signedPayload", .string(signed))]).serialized()
  }
}

/// A notification in transit.
private enum OutgoingNotification: Sendable {
  /// A notification that is not sent; the result is recorded instead.
  case unsent(SendAttemptResult)
  /// A notification that is sent `count` times.
  case sent([UInt8], url: String, count: Int)

  var isUnsent: Bool { if case .unsent = self { true } else { false } }

  /// Sends the notification, and returns the last exchange of several.
  func post(by poster: (any NotificationPoster)?, _ clock: SandboxClock) async -> DeliveryLog.Exchange {
    switch self {
    case .unsent(let result):
      return DeliveryLog.Exchange(
        url: "", sent: [], response: ReceiverResponse(result: result), milliseconds: 0)
    case .sent(let body, let url, let count):
      var response = ReceiverResponse(result: .other)
      let began = clock.machineNow()
      for _ in 0..<count { response = await poster?.exchange(body, with: url) ?? response }
      return DeliveryLog.Exchange(
        url: url, sent: body, response: response,
        milliseconds: clock.machineNow().milliseconds(since: began))
    }
  }
}

/// The transport of notifications to the developer's server. Each attempt has a time limit.
package protocol NotificationPoster: Sendable {
  /// Whether the operator allows requests to that URL. Others fail.
  func permits(_ url: String) -> Bool
  /// Posts a JSON body and returns the response.
  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse
}

extension NotificationPoster {
  package func permits(_ url: String) -> Bool { true }
}

extension AppStoreSimulator {
  /// Rejects a notification URL to which the sandbox sends nothing, when it is set and not at the first delivery.
  func checkTarget(_ action: Action, _ parameters: Parameters) throws(ActionError) {
    guard action == .notificationURL, let poster, let url = try parameters.stringIfPresent("url"),
      !poster.permits(url)
    else { return }
    throw .notPossible(
      "the sandbox sends only to this machine and to allowed hosts, not to '\(url.prefix(200))'; allow its host with "
        + "--allow-target or listeners.sandbox.allowed_targets")
  }
}
