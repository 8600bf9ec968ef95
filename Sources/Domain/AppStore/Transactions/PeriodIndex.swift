/// The periods of one purchase line in the order of their starts, to find those that replaced others.
///
/// Each search takes logarithmic time, whatever the periods have in common: Apple signs receipts with thousands of them,
/// also with equal dates.
package struct PeriodIndex<Plan: Equatable & Sendable>: Sendable {
  /// A period, and the plan by which one replaces another.
  package struct Period: Sendable {
    let transactionID: String
    let plan: Plan
    let start: Instant
    let end: Instant

    package init(transactionID: String, plan: Plan, start: Instant, end: Instant) {
      self.transactionID = transactionID
      self.plan = plan
      self.start = start
      self.end = end
    }
  }

  /// The periods of a range that end last: of all of them, and of those with another plan than that one.
  private struct Latest {
    var first: Int?
    var other: Int?
  }

  private let periods: [Period]
  private let startsByEnd: [Instant: Instant]
  /// A binary tree: the node `n` is about the ranges of the nodes `2n` and `2n + 1`; the leaves are the second half.
  private var nodes: [Latest]
  private var leafCount: Int { nodes.count / 2 }

  /// Creates an index of periods in any order.
  package init(_ periods: [Period]) {
    startsByEnd = Dictionary(periods.map { ($0.end, $0.start) }, uniquingKeysWith: { first, _ in first })
    self.periods = periods.sorted { left, right in
      guard left.start == right.start else { return left.start < right.start }
      return isLowerIdentifier(left.transactionID, right.transactionID)
    }
    var leafCount = 1
    while leafCount < periods.count { leafCount *= 2 }
    nodes = Array(repeating: Latest(), count: 2 * leafCount)
    for position in periods.indices { nodes[leafCount + position].first = position }
    for node in (1..<leafCount).reversed() { nodes[node] = merged(nodes[2 * node], nodes[2 * node + 1]) }
  }

  /// The start of the first given period that ends at an instant; `nil` if none does.
  package func start(ofPeriodEndingAt end: Instant) -> Instant? { startsByEnd[end] }

  /// The positions of the periods that start after an instant and before another one.
  package func positions(after start: Instant, before end: Instant) -> Range<Int> {
    positions(from: { $0.start > start }, before: end)
  }

  /// The positions of the periods that start before an instant, and after a period: later, or at the same instant with a
  /// higher transaction id.
  package func positions(
    afterPeriod transactionID: String, startingAt start: Instant, before end: Instant
  ) -> Range<Int> {
    positions(
      from: { period in
        period.start > start
          || period.start == start && isLowerIdentifier(transactionID, period.transactionID)
      }, before: end)
  }

  /// The start of the first period among `positions` with another plan and a later end; `nil` if there is none.
  package func firstStart(
    in positions: Range<Int>, besides plan: Plan, endingAfter end: Instant = .distantPast
  ) -> Instant? {
    find(in: positions, isFirst: true) { $0.plan != plan && $0.end > end }
  }

  /// The start of the last such period.
  package func lastStart(
    in positions: Range<Int>, besides plan: Plan, endingAfter end: Instant = .distantPast
  ) -> Instant? {
    find(in: positions, isFirst: false) { $0.plan != plan && $0.end > end }
  }
}

extension PeriodIndex {
  private func merged(_ left: Latest, _ right: Latest) -> Latest {
    guard let leftFirst = left.first else { return right }
    guard let rightFirst = right.first else { return left }
    guard periods[leftFirst].end >= periods[rightFirst].end else {
      return merged(first: rightFirst, right.other, with: leftFirst, left.other)
    }
    return merged(first: leftFirst, left.other, with: rightFirst, right.other)
  }

  /// `second` ends no later than `first`; the others are the latest of another plan on each side.
  private func merged(first: Int, _ other: Int?, with second: Int, _ secondOther: Int?) -> Latest {
    let candidates = [other, periods[second].plan != periods[first].plan ? second : secondOther]
    return Latest(
      first: first, other: candidates.compactMap(\.self).max { periods[$0].end < periods[$1].end })
  }

  /// The positions from the first period that matches, as all after it do, to the last one that starts before `end`.
  private func positions(from matches: (Period) -> Bool, before end: Instant) -> Range<Int> {
    let lower = firstPosition(where: matches)
    return lower..<max(lower, firstPosition { $0.start >= end })
  }

  private func firstPosition(where matches: (Period) -> Bool) -> Int {
    var (low, high) = (0, periods.count)
    while low < high {
      let middle = (low + high) / 2
      if matches(periods[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The start of the first or last period that matches. A range has one if one of the two of its node matches, because
  /// the rule demands another plan and a later end.
  private func find(in positions: Range<Int>, isFirst: Bool, _ matches: (Period) -> Bool) -> Instant? {
    func search(_ node: Int, _ range: Range<Int>) -> Int? {
      guard range.overlaps(positions),
        [nodes[node].first, nodes[node].other].contains(where: { $0.map { matches(periods[$0]) } ?? false })
      else { return nil }
      guard range.count > 1 else { return range.lowerBound }
      let middle = range.lowerBound + range.count / 2
      let halves = [(2 * node, range.lowerBound..<middle), (2 * node + 1, middle..<range.upperBound)]
      for (child, half) in isFirst ? halves : halves.reversed() {
        if let found = search(child, half) { return found }
      }
      return nil
    }
    return search(1, 0..<leafCount).map { periods[$0].start }
  }
}
