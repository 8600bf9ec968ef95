internal import Metrics

/// Metrics of the feed.
enum FeedMetrics {
  // Created once, because each commit of other processes is recorded.
  private static let lag = Timer(label: "entitled_feed_lag_seconds")

  /// Records a commit that was applied `age` microseconds after it, by the clock of the database.
  static func record(age: Int64) { lag.recordMicroseconds(max(0, age)) }
}
