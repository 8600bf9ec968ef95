/// The end of the time that all calls to Apple for one caller share.
struct CallDeadline: Sendable {
  private let end: Duration
  private let uptime: @Sendable () -> Duration

  /// Creates a deadline after `timeout`, by a monotonic clock.
  init(after timeout: Duration, _ uptime: @escaping @Sendable () -> Duration) {
    end = uptime() + timeout
    self.uptime = uptime
  }

  /// The time that is left; with zero or less, no call is made.
  var remaining: Duration { end - uptime() }
}
