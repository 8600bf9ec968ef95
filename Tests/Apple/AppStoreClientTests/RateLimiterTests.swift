import Testing

@testable import AppStoreClient

@Suite struct RateLimiterTests {
  @Test("A bucket allows a burst, then its rate")
  func pace() {
    var bucket = TokenBucket(perSecond: 10, at: .zero)
    for _ in 0..<100 { #expect(bucket.take(.interactive, ahead: 0, at: .zero) == nil) }
    #expect(bucket.take(.interactive, ahead: 0, at: .zero) == .milliseconds(100))
    #expect(bucket.take(.interactive, ahead: 2, at: .zero) == .milliseconds(300))
    #expect(bucket.take(.interactive, ahead: 0, at: .milliseconds(100)) == nil)
    #expect(bucket.take(.interactive, ahead: 0, at: .milliseconds(101)) != nil)
  }

  @Test("Calls of low priority leave a part of the bucket to higher ones")
  func reserves() {
    var bucket = TokenBucket(perSecond: 10, at: .zero)
    func taken(_ priority: CallPriority) -> Int {
      var count = 0
      while bucket.take(priority, ahead: 0, at: .zero) == nil { count += 1 }
      return count
    }
    #expect(taken(.backfill) == 50)
    #expect(taken(.repair) == 30)
    #expect(taken(.interactive) == 20)
  }

  @Test("Calls within an hour stay below Apple's limit")
  func hour() {
    var bucket = TokenBucket(perSecond: 5, at: .zero)
    var calls = 0
    for tick in 0..<36_000 where bucket.take(.backfill, ahead: 0, at: .milliseconds(tick * 100)) == nil {
      calls += 1
    }
    #expect((17_900...18_100).contains(calls))
  }

  @Test("A call whose wait would pass the deadline fails at once")
  func deadline() async throws {
    let time = ManualTime()
    let limiter = RateLimiter(share: 0.1, clock: time.clock)
    // The test notification has one call a second, a tenth of it here: one at once, then one in ten seconds.
    try await limiter.acquire(.testNotification, .interactive, deadline: .seconds(1))
    await #expect(
      throws: AppStoreClientError.localRateLimit(endpoint: .testNotification, retryAfter: .seconds(10))
    ) {
      try await limiter.acquire(.testNotification, .interactive, deadline: .seconds(1))
    }
    #expect(time.sleeps.isEmpty)
    try await limiter.acquire(.testNotification, .interactive, deadline: .seconds(11))
    #expect(time.sleeps == [.seconds(10)])
  }

  @Test("No call is made while Apple's limit is reached")
  func closed() async throws {
    let time = ManualTime()
    let limiter = RateLimiter(share: 1, clock: time.clock)
    limiter.close(.transactionInfo, for: .seconds(30))
    try await limiter.acquire(.transactionInfo, .interactive, deadline: nil)
    #expect(time.sleeps.reduce(.zero, +) >= .seconds(30))
    try await limiter.acquire(.refundHistory, .interactive, deadline: time.clock.uptime())
  }

  @Test("Available calls are reported for used endpoints, and recover over time")
  func levels() async throws {
    let time = ManualTime()
    let limiter = RateLimiter(share: 1, clock: time.clock)
    #expect(limiter.levels().isEmpty)
    for _ in 0..<4 { try await limiter.acquire(.testNotification, .interactive, deadline: nil) }
    #expect(limiter.levels().mapValues(\.availableCalls) == [.testNotification: 6])
    limiter.close(.testNotification, for: .seconds(30))
    #expect(limiter.levels().mapValues(\.availableCalls) == [.testNotification: 0])
    try await time.clock.sleep(.seconds(32))
    #expect(limiter.levels().mapValues(\.availableCalls) == [.testNotification: 2])
  }
}
