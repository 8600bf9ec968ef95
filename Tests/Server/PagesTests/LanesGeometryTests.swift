import AppStore
import Markup
import Pages
import Testing

private let now = Instant(millisecondsSince1970: 1_800_000_000_000)

@Suite struct LanesGeometryTests {
  private let geometry = LanesGeometry(start: now.advanced(byMilliseconds: -100 * 86_400_000), now: now)

  @Test("The past has the width of the slider, and the plot ends after now")
  func coordinates() {
    #expect(geometry.x(geometry.start) == 140)
    #expect(geometry.x(now) == 1_060)
    #expect(abs(geometry.x(geometry.end) - LanesGeometry.right) < 0.1)
    #expect(geometry.x(Instant(millisecondsSince1970: 0)) == 140, "earlier instants stay in the plot")
  }

  @Test(
    "Marks keep their distance and their order",
    arguments: [[100.0, 100, 100], [1139, 1139], [], [200, 210, 300]])
  func spread(wanted: [Double]) {
    let places = LanesGeometry.spread(wanted)
    #expect(places.count == wanted.count && places == places.sorted())
    for (left, right) in zip(places, places.dropFirst()) { #expect(right - left >= 18.99) }
    #expect(places.allSatisfy { $0 < LanesGeometry.right })
  }

  @Test("A plot has between two and sixty labels", arguments: [0.01, 1, 9, 59, 60, 400, 4_000])
  func ticks(days: Double) {
    let geometry = LanesGeometry(start: now.advanced(byMilliseconds: -Int64(days * 86_400_000)), now: now)
    #expect(geometry.ticks.count <= 60)
    #expect(days < 5 || geometry.ticks.count >= 2)
  }
}

@Suite struct FormatTests {
  @Test(
    "A span has its largest whole unit",
    arguments: [
      (2 * 86_400_000, "2 days"), (3 * 3_600_000, "3 hours"), (60_000, "1 minute"),
      (47 * 3_600_000, "47 hours"), (59_999, "less than a minute"), (0, "0 minutes"),
    ] as [(Int64, String)])
  func span(milliseconds: Int64, text: String) {
    #expect(Format.span(milliseconds) == text)
  }

  @Test(
    "A period is in words",
    arguments: [
      ("P1M", "1 month"), ("P3M", "3 months"), ("P1Y", "1 year"), ("P1W", "1 week"), ("P14D", "2 weeks"),
      ("P90D", "90 days"), ("P1M3D", "1 month, 3 days"),
    ])
  func period(text: String, expected: String) throws {
    #expect(Format.period(try #require(Period(text))) == expected)
  }

  @Test("The moments of a sentence are times, and what only begins like one is text")
  func sentence() {
    #expect(Format.sentence("no <end>").description == "no &lt;end&gt;")
    let text = Format.sentence("Access until \(Format.minuteUTC(now)). At 2027-13-01 08:00 UTC").description
    #expect(
      text.hasPrefix(
        "Access until <span class=\"moment-text\">\(Format.time(now)) <span data-zone>UTC</span></span>. "))
    #expect(text.hasSuffix("At 2027-13-01 08:00 UTC"))
  }

  @Test("Times are to the minute, with the whole instant for programs")
  func time() {
    #expect(
      Format.time(now).description == "<time datetime=\"2027-01-15T08:00:00.000Z\">2027-01-15 08:00</time>")
  }
}
