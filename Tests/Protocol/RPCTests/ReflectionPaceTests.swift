import Testing

@testable import RPC

@Suite struct ReflectionPaceTests {
  private let pace = ReflectionPace()
  private let start = ContinuousClock.now

  @Test("Answers of a tenth of a second are sent at once, and later ones at the rate of the pace")
  func rate() throws {
    // With the overhead, each takes a hundredth of a second.
    let bytes = ReflectionPace.bytesPerSecond / 100 - ReflectionPace.overhead
    let delays = (0..<21).map { _ in pace.delay(of: bytes, at: start) ?? .seconds(100) }
    #expect(delays.prefix(11).allSatisfy { $0 == .zero })
    let last = try #require(delays.last)
    #expect(last > .milliseconds(99) && last <= .milliseconds(100))
    // All of them are sent and paid for after twice the time.
    #expect(pace.delay(of: bytes, at: start + .milliseconds(300)) == .zero)
  }

  @Test("An answer that would wait for more than five seconds is refused and not counted")
  func refusal() {
    let second = ReflectionPace.bytesPerSecond - ReflectionPace.overhead
    #expect((0..<10).map { _ in pace.delay(of: second, at: start) != nil }.filter(\.self).count == 6)
    #expect(pace.delay(of: second, at: start + .seconds(1)) != nil)
    #expect(pace.delay(of: second, at: start + .seconds(1)) == nil)
  }
}
