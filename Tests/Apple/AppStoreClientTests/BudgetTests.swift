import Testing

@testable import AppStoreClient

@Suite struct BudgetTests {
  @Test("A bucket allows a burst, then its pace")
  func pace() {
    var bucket = TokenBucket(perSecond: 10, at: .zero)
    for _ in 0..<100 { #expect(bucket.take(.interactive, behind: 0, at: .zero) == nil) }
    #expect(bucket.take(.interactive, behind: 0, at: .zero) == .milliseconds(100))
    #expect(bucket.take(.interactive, behind: 2, at: .zero) == .milliseconds(300))
    #expect(bucket.take(.interactive, behind: 0, at: .milliseconds(100)) == nil)
    #expect(bucket.take(.interactive, behind: 0, at: .milliseconds(101)) != nil)
  }

  @Test("What is less urgent leaves a part to what is more")
  func reserves() {
    var bucket = TokenBucket(perSecond: 10, at: .zero)
    func taken(_ priority: CallPriority) -> Int {
      var count = 0
      while bucket.take(priority, behind: 0, at: .zero) == nil { count += 1 }
      return count
    }
    #expect(taken(.backfill) == 50)
    #expect(taken(.repair) == 30)
    #expect(taken(.interactive) == 20)
  }

  @Test("Over an hour, no more calls are made than Apple counts")
  func hour() {
    var bucket = TokenBucket(perSecond: 5, at: .zero)
    var calls = 0
    for tick in 0..<36_000 where bucket.take(.backfill, behind: 0, at: .milliseconds(tick * 100)) == nil {
      calls += 1
    }
    #expect((17_900...18_100).contains(calls))
  }

  @Test("A call that would wait longer than its caller is refused at once")
  func deadline() async throws {
    let time = ManualTime()
    let budget = RateLimiter(share: 0.1, clock: time.clock)
    // The test notification has one call a second, a tenth of it here: one at once, then one in ten seconds.
    try await budget.take(.testNotification, .interactive, deadline: .seconds(1))
    await #expect(
      throws: AppStoreClientError.localRateLimit(endpoint: .testNotification, retryAfter: .seconds(10))
    ) {
      try await budget.take(.testNotification, .interactive, deadline: .seconds(1))
    }
    #expect(time.sleeps.isEmpty)
    try await budget.take(.testNotification, .interactive, deadline: .seconds(11))
    #expect(time.sleeps == [.seconds(10)])
  }

  @Test("When Apple says that a budget is used up, nobody calls until then")
  func closed() async throws {
    let time = ManualTime()
    let budget = RateLimiter(share: 1, clock: time.clock)
    budget.close(.transactionInfo, for: .seconds(30))
    try await budget.take(.transactionInfo, .interactive, deadline: nil)
    #expect(time.sleeps.reduce(.zero, +) >= .seconds(30))
    try await budget.take(.refundHistory, .interactive, deadline: time.clock.uptime())
  }

  @Test("What is left is told for the calls that were made, and is there again after a while")
  func levels() async throws {
    let time = ManualTime()
    let budget = RateLimiter(share: 1, clock: time.clock)
    #expect(budget.levels().isEmpty)
    for _ in 0..<4 { try await budget.take(.testNotification, .interactive, deadline: nil) }
    #expect(budget.levels() == [.testNotification: 6])
    budget.close(.testNotification, for: .seconds(30))
    #expect(budget.levels() == [.testNotification: 0])
    try await time.clock.sleep(.seconds(32))
    #expect(budget.levels() == [.testNotification: 2])
  }
}
