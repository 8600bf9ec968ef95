/// How often and after which waits a call is made again.
struct RetryPolicy: Sendable {
  /// How often a call is made at most.
  let attempts: Int
  /// The longest first wait; it doubles each time.
  let base: Duration
  let longest: Duration

  static let standard = RetryPolicy(attempts: 4, base: .milliseconds(250), longest: .seconds(8))

  /// The wait behind attempt number `attempt`, counted from 1: anything up to the exponential bound, so that
  /// many callers who failed together do not come back together.
  ///
  /// - `random`: from 0 up to 1.
  func wait(after attempt: Int, random: Double) -> Duration {
    let bound = min(base.seconds * Double(1 << min(attempt - 1, 16)), longest.seconds)
    return .seconds(bound * random)
  }
}
