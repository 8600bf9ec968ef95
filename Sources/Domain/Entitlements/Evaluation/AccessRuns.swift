internal import AppStore

/// The times at which any of many intervals grants access, by the least level.
///
/// A new interval takes the time of a binary search, and not that of a pass over all others.
struct AccessRuns: Sendable {
  /// A time span with access throughout.
  private struct Run {
    var start: Instant
    var end: Instant
  }

  /// The runs of at least limited access and of full access, in order. They do not touch each other.
  private var limited: [Run] = []
  private var full: [Run] = []

  init() {}

  /// The runs of these intervals.
  init(_ spans: [OutlineSpan]) {
    // In order, each one extends the last run.
    for span in spans.sorted(by: { $0.start < $1.start }) { add(span) }
  }

  /// Adds the access of an interval.
  mutating func add(_ span: OutlineSpan) {
    guard span.grantsAccess else { return }
    Self.add(span, to: &limited)
    if span.level == .full { Self.add(span, to: &full) }
  }

  /// The start of the run of at least `level` that contains `instant` or ends there; `instant` if there is none.
  func start(of instant: Instant, _ level: AccessLevel) -> Instant {
    let runs = level == .full ? full : limited
    let index = Self.firstEnding(notBefore: instant, in: runs)
    guard index < runs.count else { return instant }
    return min(runs[index].start, instant)
  }

  /// Adds a span to runs that are in order and apart from each other; those that it touches become one with
  /// it.
  private static func add(_ span: OutlineSpan, to runs: inout [Run]) {
    let first = firstEnding(notBefore: span.start, in: runs)
    var (end, run) = (first, Run(start: span.start, end: span.end))
    while end < runs.count, runs[end].start <= span.end {
      run = Run(start: min(run.start, runs[end].start), end: max(run.end, runs[end].end))
      end += 1
    }
    if end == first + 1 { runs[first] = run } else { runs.replaceSubrange(first..<end, with: [run]) }
  }

  /// The index of the first run that ends at `instant` or later.
  private static func firstEnding(notBefore instant: Instant, in runs: [Run]) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].end < instant { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
