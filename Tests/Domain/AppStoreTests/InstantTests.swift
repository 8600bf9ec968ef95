import AppStore
import Testing

@Suite struct InstantTests {
  @Test(
    "An instant is formatted as RFC 3339 in UTC with milliseconds",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
      (951_782_399_999, "2000-02-28T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (-62_135_769_600_000, "0000-12-30T00:00:00.000Z"),
    ] as [(Int64, String)])
  func description(milliseconds: Int64, text: String) {
    #expect(Instant(millisecondsSince1970: milliseconds).description == text)
    #expect(Instant(rfc3339: text)?.millisecondsSince1970 == milliseconds)
  }

  @Test("Parsing applies offsets and truncates to milliseconds")
  func offsets() {
    #expect(Instant(rfc3339: "2026-01-01T01:30:00+01:30") == Instant(rfc3339: "2026-01-01T00:00:00Z"))
    #expect(Instant(rfc3339: "2025-12-31t19:00:00-05:00") == Instant(rfc3339: "2026-01-01T00:00:00z"))
    #expect(Instant(rfc3339: "1970-01-01T00:00:00.0129Z")?.millisecondsSince1970 == 12)
    #expect(Instant(rfc3339: "1970-01-01T00:00:00.5Z")?.millisecondsSince1970 == 500)
  }

  @Test(
    "Text that is not RFC 3339 is rejected",
    arguments: [
      "", "2026-01-01", "2026-01-01T00:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z ",
      "2026-1-01T00:00:00Z", "2026-01-01T00:00:00+1:00",
    ])
  func refused(text: String) {
    #expect(Instant(rfc3339: text) == nil)
  }

  @Test("Adding milliseconds saturates at the bounds")
  func saturation() {
    let end = Instant(millisecondsSince1970: .max)
    #expect(end.advanced(byMilliseconds: 1) == end)
    #expect(end.milliseconds(since: Instant(millisecondsSince1970: -1)) == .max)
    #expect(Instant(millisecondsSince1970: 5).milliseconds(since: Instant(millisecondsSince1970: 7)) == -2)
  }
}

@Suite struct PeriodTests {
  @Test(
    "Adding a period follows the calendar and clamps to the last day of a month",
    arguments: [
      ("P1M", "2026-01-31T10:00:00.000Z", "2026-02-28T10:00:00.000Z"),
      ("P1M", "2024-01-31T10:00:00.000Z", "2024-02-29T10:00:00.000Z"),
      ("P1Y", "2024-02-29T00:00:00.000Z", "2025-02-28T00:00:00.000Z"),
      ("P3M", "2025-11-30T00:00:00.000Z", "2026-02-28T00:00:00.000Z"),
      ("P1W", "2026-02-25T00:00:00.000Z", "2026-03-04T00:00:00.000Z"),
      ("P1Y2M10D", "2025-01-01T00:00:00.000Z", "2026-03-11T00:00:00.000Z"),
    ])
  func advance(period: String, start: String, end: String) throws {
    let start = try #require(Instant(rfc3339: start))
    #expect(start.advanced(by: try #require(Period(period))).description == end)
  }

  @Test(
    "Text that is not a duration of whole days is rejected",
    arguments: ["", "P", "P0D", "1M", "PT1H", "P1D1M", "P1M1M", "P99999D", "P-1M"])
  func refused(text: String) {
    #expect(Period(text) == nil)
  }
}
