internal import AppStore
internal import JSON
internal import SignedData

/// Time, and notifications on their way.
extension AppStoreSimulator {
  /// Lets time pass by the clock, and sends what is due when it is due, until the task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      await settle()
      let wait = nextEvent.flatMap { clock.wait(until: $0) } ?? Self.longestWait
      await pause(milliseconds: min(max(wait, 1), Self.longestWait))
    }
  }

  private static let longestWait: Int64 = 3_600_000

  /// Turns the clock: everything on the way happens at its moment, and every notification is sent when it is due,
  /// before the next thing happens.
  func turnClock(to target: Instant) async throws(SandboxError) {
    while let next = nextEvent, next <= target {
      clock.set(to: next)
      catchUp()
      await deliver()
    }
    clock.set(to: target)
    try remember(.clock(clock.setting))
    catchUp()
    await deliver()
    wake()
  }

  /// When something will next happen or is to be sent.
  private var nextEvent: Instant? {
    [world.nextChange, poster == nil ? nil : world.nextDelivery].compactMap { $0 }.min()
  }

  /// Does what the clock says is due, and sends what is to be sent.
  private func settle() async {
    catchUp()
    await deliver()
  }

  /// Sends what is due, in order and one at a time: who comes while others are sent waits for them first.
  private func deliver() async {
    while let delivery { await delivery.value }
    guard poster != nil else { return }
    let task = Task {
      while let next = nextToSend() { await send(next) }
      delivery = nil
    }
    delivery = task
    await task.value
  }

  /// The notification whose turn it is, with the faults that concern order and time.
  private func nextToSend() -> Int? {
    var due = world.dueNotices
    while let first = due.first {
      if let length = faults.take(.delay) {
        world.postpone(first, to: world.now.advanced(byMilliseconds: length))
        due.removeFirst()
      } else if due.count > 1, faults.take(.reorder) != nil {
        return due[1]
      } else {
        return first
      }
    }
    return nil
  }

  private func send(_ index: Int) async {
    let notice = world.notices[index]
    guard let target = world.settings[notice.app]?.notificationTarget, let poster else {
      return record(index, .other, next: nil)
    }
    if faults.take(.drop) != nil { return record(index, .noResponse, next: nil) }
    guard let body = body(of: notice, version: target.version) else {
      // Version 1 does not tell of this.
      return record(index, .success, next: nil)
    }
    if faults.take(.duplicate) != nil { _ = await poster.post(body, to: target.url) }
    let result = await poster.post(body, to: target.url)
    record(index, result, next: result == .success ? nil : retry(notice, version: target.version))
  }

  private func record(_ index: Int, _ result: SendAttemptResult, next: Instant?) {
    world.attempted(index, result, next: next)
    // A journal that cannot be written is told to the next tester who changes something.
    try? remember(.attempt(notice: index, result, next: next))
  }

  /// Apple's schedule: hours after each attempt until the next.
  private func retry(_ notice: Notice, version: Int64) -> Instant? {
    let hours: [Int64] = version == 1 ? [6, 24, 48] : [1, 12, 24, 48, 72]
    guard notice.attempts.count < hours.count else { return nil }
    return world.now.advanced(byMilliseconds: hours[notice.attempts.count] * 3_600_000)
  }

  private func body(of notice: Notice, version: Int64) -> [UInt8]? {
    if version == 1 {
      guard let app = world.app(notice.app) else { return nil }
      let body = try? legacyPaper(of: app).notification(notice)
      return body?.serialized()
    }
    guard var signed = try? signedPayload(of: notice) else { return nil }
    if faults.take(.wrongSignature) != nil { signed = Faults.falsified(signed) }
    return JSONObject([("signedPayload", .string(signed))]).serialized()
  }
}
