internal import AppStore

/// Whether a receiver may be sent something now.
///
///     working ──5 failures in a row──▶ down ──something is taken──▶ working
///
/// While it is down it is asked once a minute with one message, so that a backlog neither hammers it nor
/// wears out its messages' attempts; what happens meanwhile stays in the log. When it asks to be left alone
/// (`Retry-After`), it is.
struct WebhookCircuitBreaker: Hashable, Sendable {
  private static let failureThreshold = 5
  private static let probeInterval: Int64 = 60_000
  /// Whoever asks for more is asked again all the same.
  private static let maxRetryAfter: Int64 = 3_600_000

  private var failures = 0
  private var openUntil: Instant?

  /// Nothing got through for long.
  var isDown: Bool { failures >= Self.failureThreshold }

  /// How many milliseconds nothing may be sent; `nil` if something may now.
  func retryDelay(at now: Instant) -> Int64? {
    guard let openUntil, openUntil > now else { return nil }
    return openUntil.milliseconds(since: now)
  }

  /// Something was taken.
  ///
  /// - Returns: whether the receiver had been down.
  mutating func succeeded() -> Bool {
    let wasDown = isDown
    self = WebhookCircuitBreaker()
    return wasDown
  }

  /// Something was not taken; `retryAfter` is for how many milliseconds the receiver asked to be left alone.
  mutating func failed(at now: Instant, retryAfter: Int64?) {
    failures += 1
    let asked = retryAfter.map { min($0, Self.maxRetryAfter) } ?? 0
    let rest = max(asked, isDown ? Self.probeInterval : 0)
    let end = now.advanced(byMilliseconds: rest)
    if rest > 0, openUntil.map({ $0 < end }) ?? true { openUntil = end }
  }
}
