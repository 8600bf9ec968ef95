import Callers
import HTTP
import Synchronization
import Testing

@Suite struct AddressLimiterTests {
  private final class Clock: Sendable {
    let ticks = Atomic<Int64>(0)
  }

  private let clock = Clock()

  private func limiter() -> AddressLimiter {
    AddressLimiter(perSecond: 2) { [clock] in clock.ticks.load(ordering: .relaxed) }
  }

  @Test("The posts of a minute may arrive at once; then the sender waits, and others do not")
  func burst() {
    let limiter = limiter()
    for _ in 0..<120 { #expect(limiter.delay(of: "192.0.2.1") == nil) }
    #expect(limiter.delay(of: "192.0.2.1") == 501)
    #expect(limiter.delay(of: "192.0.2.2") == nil)
    clock.ticks.add(1_000_000_000, ordering: .relaxed)
    #expect(limiter.delay(of: "192.0.2.1") == nil)
    #expect(limiter.delay(of: "192.0.2.1") == nil)
    #expect(limiter.delay(of: "192.0.2.1") != nil)
  }

  @Test("A post that counts as several is accepted as one, and those after it wait for all of them")
  func cost() {
    let limiter = limiter()
    for _ in 0..<119 { _ = limiter.delay(of: "192.0.2.1") }
    #expect(limiter.delay(of: "192.0.2.1", cost: 20) == nil)
    #expect(limiter.delay(of: "192.0.2.1") == 10_001)
    clock.ticks.add(10_000_000_000, ordering: .relaxed)
    #expect(limiter.delay(of: "192.0.2.1") == nil)
  }

  @Test(
    "The addresses of one IPv6 network of 64 bits are one sender",
    arguments: [
      ("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", true), ("2001:db8::1", "2001:db8:0:0:9::", true),
      ("2001:db8:1:2::1", "2001:db8:1:3::1", false), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
      ("2001:DB8:1:2::1", "2001:0db8:1:2::2", true),
    ])
  func networks(first: String, second: String, areOne: Bool) {
    let limiter = limiter()
    for _ in 0..<120 { _ = limiter.delay(of: first) }
    #expect((limiter.delay(of: second) != nil) == areOne)
    #expect((limiter.remainingDelay(of: PeerNetwork(address: second)) != nil) == areOne)
  }

  @Test(
    "Names of people are one sender each, whatever their form",
    arguments: [
      ("support/arn:aws:iam::1:user/lena", "support/arn:aws:iam::1:user/ben"),
      ("urn:corp:it:users:lena", "urn:corp:it:users:ben"), ("a:b:c:d:e", "a:b:c:d:f"), ("::x", "::y"),
      ("a:b:c:d:e:f:1:2:3", "a:b:c:d:e:f:1:2:4"), ("a::b::1", "a::b::2"),
      ("a:b:c:d:1:2:3:+4", "a:b:c:d:1:2:3:+5"),
      ("jos\u{E9}", "jose\u{301}"),
    ])
  func names(first: String, second: String) {
    let limiter = limiter()
    for _ in 0..<120 { _ = limiter.delay(of: first) }
    #expect(limiter.delay(of: first) != nil && limiter.delay(of: second) == nil)
  }

  @Test("The networks of one IPv6 site may send as much as sixteen networks")
  func site() {
    let limiter = limiter()
    for network in 0..<16 {
      for _ in 0..<120 { #expect(limiter.delay(of: "2001:db8:1:\(network)::1") == nil) }
    }
    #expect(limiter.delay(of: "2001:db8:1:ffff::1") != nil)
    #expect(limiter.remainingDelay(of: PeerNetwork(address: "2001:db8:1:fffe::1")) != nil)
    #expect(limiter.delay(of: "2001:db8:2::1") == nil && limiter.delay(of: "192.0.2.1") == nil)
  }

  @Test("A sender over its limit stays there while thousands of others send")
  func manySenders() {
    let limiter = limiter()
    for _ in 0..<120 { #expect(limiter.delay(of: "192.0.2.1") == nil) }
    for number in 0..<10_000 {
      #expect(limiter.delay(of: "10.0.\(number / 250).\(number % 250)") == nil)
      if number % 1_000 == 0 { clock.ticks.add(1_000_000_000, ordering: .relaxed) }
    }
    // Ten seconds gave it twenty posts.
    for _ in 0..<20 { #expect(limiter.delay(of: "192.0.2.1") == nil) }
    #expect(limiter.delay(of: "192.0.2.1") != nil)
  }

  @Test("The remaining delay counts nothing")
  func remaining() {
    let limiter = limiter()
    let network = PeerNetwork(address: "192.0.2.1")
    for _ in 0..<200 { #expect(limiter.remainingDelay(of: network) == nil) }
    for _ in 0..<120 { #expect(limiter.delay(of: network) == nil) }
    #expect((0..<9).map { _ in limiter.remainingDelay(of: network) } == Array(repeating: 501, count: 9))
    clock.ticks.add(500_000_000, ordering: .relaxed)
    #expect(limiter.remainingDelay(of: network) == nil)
    #expect(limiter.delay(of: network) == nil)
  }
}
