internal import AppStore

/// An access interval of an outline.
struct OutlineSpan: Sendable {
  private(set) var start: Instant
  private(set) var end: Instant
  let line: Int32
  let level: AccessLevel
  private let rank: UInt8
  let kind: Kind
  /// Whether it follows the intervals of all periods in ``AccessIntervals/all``.
  let isGrace: Bool

  /// The kinds that have an order independent of their ends: slack precedes grace.
  enum Kind: Int, CaseIterable {
    case other, slack, grace
  }

  /// The number of values of ``place``.
  static let places = AccessLevel.allCases.count * 5 * Kind.allCases.count

  /// The combination of level, rank and kind. Of two intervals with the same one, the one that ends later decides.
  var place: Int { (level.rawValue * 5 + Int(rank)) * Kind.allCases.count + kind.rawValue }

  /// The interval of a transaction.
  init(_ interval: AccessInterval, line: Int32) {
    start = interval.start
    end = interval.end
    self.line = line
    level = interval.level
    rank = UInt8(interval.rank.rawValue)
    isGrace = interval.isGrace
    switch interval.kind {
    case .renewalSlack: kind = .slack
    case .grace: kind = .grace
    default: kind = .other
    }
  }
}

extension OutlineSpan {
  /// The interval up to a later end.
  func extended(to end: Instant) -> OutlineSpan {
    var span = self
    span.end = Swift.max(span.end, end)
    return span
  }

  var grantsAccess: Bool { level > .none && start < end }

  /// Whether it grants at least the access of another interval.
  func covers(_ other: OutlineSpan) -> Bool {
    level >= other.level && start <= other.start && other.end <= end
  }
}

extension [OutlineSpan] {
  /// The same times of access at each level in as few intervals as possible, without those that grant none.
  var unbroken: [OutlineSpan] {
    var found: [OutlineSpan] = []
    for level in [AccessLevel.limited, .full] {
      var last: OutlineSpan?
      for span in filter({ $0.level == level && $0.grantsAccess }).sorted(by: { $0.start < $1.start }) {
        if let run = last, span.start <= run.end {
          last = run.extended(to: span.end)
        } else {
          if let last { found.append(last) }
          last = span
        }
      }
      if let last { found.append(last) }
    }
    return found
  }

  /// The indices of the intervals that may decide an answer from `instant` on: those that start later; of those of one
  /// level and rank that cover it, the one that ends last; and of all, the last one, the last one with a level, and the
  /// last one that granted access.
  /// Of equal intervals the one of the first line counts, as in evaluation.
  func decisive(from instant: Instant, precedes: (Int32, Int32) -> Bool) -> [Int] {
    var found: [Int] = []
    var covering = [Int?](repeating: nil, count: OutlineSpan.places)
    var last: Int?
    var lastWithLevel: Int?
    var lastWithAccess: Int?
    func isLater(_ index: Int, than other: Int?) -> Bool {
      guard let other else { return true }
      guard self[index].end == self[other].end else { return self[index].end > self[other].end }
      guard self[index].start == self[other].start else { return self[index].start > self[other].start }
      guard self[index].isGrace == self[other].isGrace else { return self[other].isGrace }
      return precedes(self[index].line, self[other].line)
    }
    func endsLater(_ index: Int, than other: Int?) -> Bool {
      guard let other else { return true }
      guard self[index].end == self[other].end else { return self[index].end > self[other].end }
      return precedes(self[index].line, self[other].line)
    }
    for index in indices {
      guard self[index].start <= instant else {
        found.append(index)
        continue
      }
      if isLater(index, than: last) { last = index }
      guard self[index].level > .none else { continue }
      if isLater(index, than: lastWithLevel) { lastWithLevel = index }
      if self[index].grantsAccess, isLater(index, than: lastWithAccess) { lastWithAccess = index }
      guard instant < self[index].end else { continue }
      let place = self[index].place
      if endsLater(index, than: covering[place]) { covering[place] = index }
    }
    // Slack precedes grace whatever their ends, so beside both of them the order of the others counts too.
    for place in stride(from: 0, to: covering.count, by: OutlineSpan.Kind.allCases.count)
    where covering[place...].prefix(3).allSatisfy({ $0 != nil }) {
      found += indices.filter {
        self[$0].place == place && self[$0].start <= instant && instant < self[$0].end
      }
    }
    return found + covering.compactMap(\.self) + [last, lastWithLevel, lastWithAccess].compactMap(\.self)
  }
}
