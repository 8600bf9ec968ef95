import Callers
import TestSupport
import Testing

@Suite struct TokenBucketTests {
  private static let second: Int64 = 1_000_000_000

  @Test("After a pause, a burst is allowed at once and then calls at the rate")
  func burst() {
    let bucket = TokenBucket(RateLimit(perSecond: 10, burst: 3))
    let start = 5 * Self.second
    for _ in 0..<3 { #expect(bucket.take(at: start) == nil) }
    #expect(bucket.take(at: start) == Self.second / 10)
    #expect(bucket.take(at: start + Self.second / 10) == nil)
    #expect(bucket.take(at: start + Self.second / 10) != nil)
  }

  @Test("Each of several replicas has its part of rate and burst, and at least one call at once")
  func divided() {
    let bucket = TokenBucket(RateLimit(perSecond: 10, burst: 6))
    for _ in 0..<2 { #expect(bucket.take(at: 0, dividedBy: 3) == nil) }
    #expect(bucket.take(at: 0, dividedBy: 3) == 3 * Self.second / 10)
    #expect(bucket.take(at: 3 * Self.second / 10, dividedBy: 3) == nil)
    let small = TokenBucket(RateLimit(perSecond: 10, burst: 1))
    #expect(small.take(at: 0, dividedBy: 3) == nil && small.take(at: 0, dividedBy: 3) != nil)
  }

  @Test("A call after the returned wait is allowed")
  func wait() throws {
    let bucket = TokenBucket(RateLimit(perSecond: 3, burst: 1))
    var now: Int64 = 0
    for _ in 0..<100 {
      #expect(bucket.take(at: now) == nil)
      now += try #require(bucket.take(at: now))
    }
    #expect(now <= 34 * Self.second)
  }

  @Test("Randomly spread calls never exceed burst and rate", arguments: 1...20)
  func upperBound(seed: UInt64) {
    var generator = SplitMix64(state: seed)
    let limit = RateLimit(
      perSecond: .random(in: 1...50, using: &generator), burst: .random(in: 1...20, using: &generator))
    let bucket = TokenBucket(limit)
    var now: Int64 = 0
    var granted: Int64 = 0
    for _ in 0..<500 {
      now += .random(in: 0...Self.second / 20, using: &generator)
      if bucket.take(at: now) == nil { granted += 1 }
    }
    #expect(granted <= limit.burst + now / (Self.second / limit.perSecond) + 1)
  }
}
