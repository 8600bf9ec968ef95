import AppStore
import Testing
import Wire

@testable import Console

/// The memory of the answers that the pages of reports load again.
@Suite struct ReportAnswerCacheTests {
  private let now = Instant(millisecondsSince1970: 1_800_000_000_000)

  private func key(_ name: String) -> ReportAnswerCache.Key {
    ReportAnswerCache.Key(caller: name, request: [1, 2, 3])
  }

  private func answer(_ length: Int) -> QueryReportResponse {
    .with { $0.resultHash = String(repeating: "a", count: length) }
  }

  private func later(_ seconds: Int64) -> Instant { now.advanced(byMilliseconds: 1_000 * seconds) }

  @Test("An answer is used until its time, by its caller")
  func times() {
    var cache = ReportAnswerCache()
    cache.insert(answer(10), for: key("ann"), until: later(5), at: now)
    #expect(cache.answer(to: key("ann"), at: later(4)) == answer(10))
    #expect(cache.answer(to: key("ann"), at: later(5)) == nil)
    #expect(cache.answer(to: key("ben"), at: now) == nil)
  }

  @Test("The answers take no more bytes than the limit; those go first that are used the shortest")
  func limit() {
    var cache = ReportAnswerCache(limit: 2_500)
    cache.insert(answer(1_000), for: key("ann"), until: later(9), at: now)
    cache.insert(answer(1_000), for: key("ben"), until: later(5), at: now)
    #expect((2_000...2_100).contains(cache.size))
    cache.insert(answer(1_000), for: key("cleo"), until: later(7), at: now)
    #expect(cache.answer(to: key("ben"), at: now) == nil)
    #expect(cache.answer(to: key("ann"), at: now) != nil && cache.answer(to: key("cleo"), at: now) != nil)
    cache.insert(answer(3_000), for: key("dora"), until: later(9), at: now)
    #expect(cache.answer(to: key("dora"), at: now) == nil && cache.answer(to: key("ann"), at: now) != nil)
    cache.insert(answer(2_000), for: key("emil"), until: later(20), at: later(10))
    #expect((2_000...2_050).contains(cache.size))
    cache.insert(answer(1), for: key("emil"), until: later(20), at: later(10))
    #expect(cache.size < 50)
  }
}
