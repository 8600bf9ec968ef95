internal import Logging
internal import Store

/// Logs a full disk once, however many writes fail, and once that it is over.
struct DiskFullLog {
  /// The time without failures after which a full disk is over. On an almost full disk small writes succeed between
  /// large ones that fail.
  static let quietPeriod = Duration.seconds(60)

  private let path: String
  private let logger: Logger
  private var lastFailure: ContinuousClock.Instant?

  /// Creates a log about the disk of the database at `path`.
  init(path: String, logger: Logger = Logger(label: "entitled.store")) {
    self.path = path
    self.logger = logger
  }

  /// Records the result of a batch of writes.
  mutating func record(_ failure: StoreError?, at now: ContinuousClock.Instant) {
    if failure == .diskFull {
      if lastFailure == nil {
        logger.warning(
          "disk full, writes are refused",
          metadata: [
            "path": "\(path)",
            "action": "free space on this disk or enlarge it; writes resume without a restart",
          ])
      }
      lastFailure = now
    } else if failure == nil, let last = lastFailure, now - last >= Self.quietPeriod {
      lastFailure = nil
      logger.notice("disk has space again", metadata: ["path": "\(path)"])
    }
  }
}
