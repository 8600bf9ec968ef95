import AppStore
import Testing

/// The index of periods, compared with a search of all of them.
@Suite struct PeriodIndexTests {
  private typealias Index = PeriodIndex<String>

  private struct Period {
    let id, plan: String
    let start, end: Int64
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(millisecondsSince1970: milliseconds) }

  private func index(_ periods: [Period]) -> Index {
    Index(
      periods.map { .init(transactionID: $0.id, plan: $0.plan, start: at($0.start), end: at($0.end)) })
  }

  @Test("Each search finds what a search of all periods finds", arguments: [0, 1, 2, 3, 7, 8, 40] as [Int64])
  func searches(count: Int64) {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<40 {
      let periods = (0..<count).map { number in
        let start = Int64.random(in: 0...6, using: &random)
        return Period(
          id: String(number), plan: ["a", "b", "c"].randomElement(using: &random) ?? "",
          start: start, end: start + Int64.random(in: 0...6, using: &random))
      }
      let index = index(periods)
      for (from, to) in [(-1, 9), (0, 3), (2, 5), (3, 3), (5, 2)] as [(Int64, Int64)] {
        for (plan, end) in [("a", 4), ("b", 0), ("x", 11)] as [(String, Int64)] {
          let found = periods.filter { from < $0.start && $0.start < to && $0.plan != plan && $0.end > end }
            .map(\.start)
          let positions = index.positions(after: at(from), before: at(to))
          #expect(
            index.firstStart(in: positions, besides: plan, endingAfter: at(end)) == found.min().map(at))
          #expect(
            index.lastStart(in: positions, besides: plan, endingAfter: at(end)) == found.max().map(at))
        }
      }
      for period in periods {
        let later = periods.filter { other in
          let isLater =
            other.start > period.start
            || other.start == period.start
              && (other.id.utf8.count, other.id) > (period.id.utf8.count, period.id)
          return isLater && other.start < period.end && other.plan != period.plan
        }.map(\.start)
        let positions = index.positions(
          afterPeriod: period.id, startingAt: at(period.start), before: at(period.end))
        #expect(index.firstStart(in: positions, besides: period.plan) == later.min().map(at))
        let ended = periods.first { $0.end == period.start }
        #expect(index.start(ofPeriodEndingAt: at(period.start)) == ended.map { at($0.start) })
      }
    }
  }
}
