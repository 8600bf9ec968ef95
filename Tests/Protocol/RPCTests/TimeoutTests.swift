import RPC
import Testing

@Suite struct TimeoutTests {
  @Test(
    "A timeout is up to eight digits and a unit",
    arguments: [
      ("0n", 0), ("1n", 1), ("100u", 100_000), ("20m", 20_000_000), ("3S", 3_000_000_000),
      ("2M", 120_000_000_000), ("1H", 3_600_000_000_000), ("99999999n", 99_999_999),
    ] as [(String, Int64)])
  func reads(text: String, nanoseconds: Int64) {
    #expect(read(text)?.nanoseconds == nanoseconds)
  }

  @Test("A timeout beyond the range of the clock is the maximum", arguments: ["99999999H"])
  func longest(text: String) { #expect(read(text)?.nanoseconds == .max) }

  @Test(
    "A malformed timeout is rejected",
    arguments: ["", "1", "S", "123456789S", "-1S", "1.5S", "1 S", "1s", "0x1S", "１S"])
  func refuses(text: String) { #expect(read(text) == nil) }

  @Test(
    "A timeout survives encoding",
    arguments: [1, 99_999_999, 100_000_000, 30_000_000_000, 86_400_000_000_000] as [Int64])
  func round(nanoseconds: Int64) {
    #expect(read(Timeout(nanoseconds: nanoseconds).headerValue)?.nanoseconds == nanoseconds)
  }

  private func read(_ text: String) -> Timeout? {
    Array(text.utf8).withUnsafeBytes { Timeout($0) }
  }
}
