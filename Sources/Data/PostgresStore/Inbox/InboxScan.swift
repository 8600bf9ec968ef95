/// The start of the leader's looks for entries without outcome.
///
/// The server keeps what it deleted or replaced while an older transaction could see it, such as that of a backup. During
/// one, each scan from the beginning would pass all entries that were done since. Ids are given before a commit, so a low
/// one may appear late: the distance covers concurrent appends, and a full scan once a second covers the rest, or less often if
/// it takes long.
struct InboxScan {
  /// The distance, in ids, below the lowest known one at which each scan begins.
  static let distance: Int64 = 10_000
  /// The pause between the beginnings of two full scans.
  static let interval = Duration.seconds(1)
  /// A full scan follows another one at the earliest after this multiple of its duration, so that others run.
  static let restFactor = 10

  private var first = Int64.min
  private var nextWhole: ContinuousClock.Instant?

  /// Returns the id at which a scan at `now` begins.
  mutating func start(at now: ContinuousClock.Instant) -> Int64 {
    if let nextWhole, now < nextWhole { return first }
    nextWhole = now + Self.interval
    return .min
  }

  /// Records that the scan that began at `start` ended or failed at `end`.
  mutating func ended(from start: ContinuousClock.Instant, at end: ContinuousClock.Instant) {
    if let nextWhole { self.nextWhole = max(nextWhole, start + (end - start) * Self.restFactor) }
  }

  /// Records the ids of entries without outcome, as far as they are known.
  mutating func saw(_ ids: some Sequence<Int64>) {
    if let lowest = ids.min() { first = max(lowest, Int64.min + Self.distance) - Self.distance }
  }
}
