import AppStore
import TestSupport
import Testing

@testable import Entitlements

@Suite("Runs of access")
struct AccessRunsTests {
  @Test(
    "A run starts where unbroken access begins, in whatever order the intervals arrive",
    arguments: UInt64(0)..<20)
  func starts(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 31_000)
    let spans = (0..<Int.random(in: 0...60, using: &random)).map { _ in
      let start = Int64.random(in: 0...200, using: &random)
      let level = AccessLevel.allCases.randomElement(using: &random) ?? .none
      let interval = AccessInterval(
        .subscription, level, from: day(start), to: day(start + .random(in: 0...9, using: &random)), by: 0,
        isShared: false)
      return OutlineSpan(interval, line: 0)
    }
    var runs = AccessRuns()
    for span in spans { runs.add(span) }
    let all = AccessRuns(spans)
    for number in Int64(-1)...211 {
      for level in [AccessLevel.limited, .full] {
        let expected = start(of: day(number), level, in: spans)
        #expect(runs.start(of: day(number), level) == expected)
        #expect(all.start(of: day(number), level) == expected)
      }
    }
  }

  /// The definition: intervals that end at the start of the run or later belong to it.
  private func start(of instant: Instant, _ level: AccessLevel, in spans: [OutlineSpan]) -> Instant {
    var start = instant
    while let earlier = spans.filter({ $0.level >= level && start <= $0.end }).map(\.start).min(),
      earlier < start
    { start = earlier }
    return start
  }

  private func day(_ number: Int64) -> Instant { Instant(millisecondsSince1970: number * 86_400_000) }
}
