internal import Metrics

/// What is counted of the batches that are made durable.
enum CommitMetrics {
  // Looked up once: the writer's thread is the one that everybody waits for.
  private static let seconds = Timer(label: "entitled_store_commit_seconds")
  private static let writes = Recorder(label: "entitled_store_commit_writes")
  private static let failures = Counter(label: "entitled_store_commit_failures_total")
  private static let isWritable = Gauge(label: "entitled_store_writable")
  private static let queue = Gauge(label: "entitled_store_writes_queued")

  /// Counts a batch of so many writes.
  static func count(_ count: Int, duration: Duration, hasFailed: Bool) {
    let (whole, attoseconds) = duration.components
    seconds.recordNanoseconds(whole * 1_000_000_000 + attoseconds / 1_000_000_000)
    writes.record(count)
    isWritable.record(hasFailed ? 0 : 1)
    if hasFailed { failures.increment() }
  }

  /// Tells how many writes wait behind the batch that begins.
  static func waiting(_ count: Int) { queue.record(count) }
}
