internal import AppStore

/// When renewals are charged and when failed ones are announced.
struct RenewalTiming: Hashable, Sendable {
  /// The longest time between a charge and the end of the paid period, in milliseconds.
  ///
  /// Apple charges within the last 24 hours of the period ("In-App Purchase Programming Guide", subscriptions).
  var chargeLead: Int64 = Instant.millisecondsPerDay
  /// The longest time between the end of the period and `DID_FAIL_TO_RENEW`, in milliseconds.
  ///
  /// Apple announces the failure seconds after the end of the period, and not at the first failed charge (Apple
  /// Developer Forums, thread 745515: 16 seconds).
  var failureDelay: Int64 = 30_000
  /// The percentage of recoveries before the end of the period after which `DID_FAIL_TO_RENEW` is sent anyway.
  ///
  /// Such a notification was observed once (Apple Developer Forums, thread 745515); how often it is sent is unknown.
  var staleFailures: Int64 = 50
}

extension World {
  /// A purpose of ``draw(upTo:_:for:)``; each has its own random numbers.
  private enum Draw: UInt64 {
    case charge, failureDelay, staleFailure
  }

  /// Returns a number of 0 to `limit` that depends only on the seed, the subscription, the end of its period and the
  /// purpose, so that other actions do not change it.
  private func draw(upTo limit: Int64, _ purpose: Draw, for line: SubscriptionLine, endingAt end: Instant)
    -> Int64
  {
    var state = seed
    for value in [
      UInt64(bitPattern: line.id), UInt64(bitPattern: end.millisecondsSince1970), purpose.rawValue,
    ] {
      var random = SeededRandom(seed: state ^ value)
      state = random.next()
    }
    var random = SeededRandom(seed: state)
    return Int64.random(in: 0...max(0, limit), using: &random)
  }

  /// Returns the time of the charge for the renewal at the end of a period.
  ///
  /// The lead is at most a seventh of the period, which is a day of a week, so that accelerated periods have one in
  /// proportion.
  func chargeDate(of line: SubscriptionLine, from start: Instant, until end: Instant) -> Instant {
    let day = scale(of: line.account).length(days: 1)
    let limit = min(timing.chargeLead, day, end.milliseconds(since: start) / 7)
    return end.advanced(byMilliseconds: -draw(upTo: limit, .charge, for: line, endingAt: end))
  }

  /// Schedules the charge of a running period again, after the timing changed. A failed charge is repeated at the end of
  /// the period.
  mutating func scheduleCharge(of id: Int64) {
    guard var line = lines[id], line.status == .active, line.source == nil, !line.hasFailedCharge else {
      return
    }
    line.chargeDate = chargeDate(
      of: line, from: current(of: line)?.purchaseDate ?? now, until: line.expiresDate)
    put(line)
  }

  /// Returns the time at which the failure of the renewal at the end of a period is announced.
  func failureNoticeDate(of line: SubscriptionLine, endingAt end: Instant) -> Instant {
    let limit = min(timing.failureDelay, scale(of: line.account).length(days: 1))
    return end.advanced(byMilliseconds: draw(upTo: limit, .failureDelay, for: line, endingAt: end))
  }

  /// Whether a failure is announced although the charge was recovered before the end of the period.
  func announcesStaleFailure(of line: SubscriptionLine, endingAt end: Instant) -> Bool {
    draw(upTo: 99, .staleFailure, for: line, endingAt: end) < timing.staleFailures
  }
}
