import AppStore
import Testing

@testable import Webhooks

@Suite struct RetryScheduleTests {
  private func next(_ schedule: RetrySchedule, age milliseconds: Int64) -> Int64? {
    schedule.next(after: instant(1_000 + milliseconds), first: instant(1_000))
      .map { $0.milliseconds(since: instant(1_000)) }
  }

  @Test("The standard schedule makes ten attempts within 76 hours")
  func standard() {
    var ages: [Int64] = [0]
    while let age = ages.last, let following = next(.standard, age: age) { ages.append(following) }
    #expect(ages.count == 10)
    #expect(ages.map { $0 / 1_000 }.prefix(5) == [0, 5, 305, 2_105, 9_305])
    #expect(ages.last == 272_105_000)
  }

  @Test("An early attempt does not shorten the schedule")
  func early() {
    let schedule = RetrySchedule(delays: [10, 100])
    #expect(next(schedule, age: 0) == 10_000)
    #expect(next(schedule, age: 3_000) == 10_000)
    #expect(next(schedule, age: 10_000) == 110_000)
    #expect(next(schedule, age: 110_000) == nil)
    #expect(next(RetrySchedule(delays: []), age: 0) == nil)
  }
}

@Suite struct WebhookCircuitBreakerTests {
  @Test("A webhook is down after five failures in a row, and probed once a minute")
  func down() {
    var health = WebhookCircuitBreaker()
    for _ in 0..<4 { health.failed(at: instant(0), retryAfter: nil) }
    #expect(!health.isDown)
    #expect(health.retryDelay(at: instant(0)) == nil)
    health.failed(at: instant(0), retryAfter: nil)
    #expect(health.isDown)
    #expect(health.retryDelay(at: instant(1)) == 59_999)
    #expect(health.retryDelay(at: instant(60_000)) == nil)
    var wasDown = health.succeeded()
    #expect(wasDown)
    #expect(!health.isDown)
    wasDown = health.succeeded()
    #expect(!wasDown)
  }

  @Test("A success resets the number of failures")
  func mixed() {
    var health = WebhookCircuitBreaker()
    for _ in 0..<20 {
      health.failed(at: instant(0), retryAfter: nil)
      let wasDown = health.succeeded()
      #expect(!wasDown)
    }
    #expect(!health.isDown)
  }

  @Test("Retry-After delays deliveries for up to an hour")
  func retryAfter() {
    var health = WebhookCircuitBreaker()
    health.failed(at: instant(0), retryAfter: 7_000)
    health.failed(at: instant(1_000), retryAfter: 2_000)
    #expect(health.retryDelay(at: instant(1_000)) == 6_000)
    health.failed(at: instant(0), retryAfter: 90_000_000)
    #expect(health.retryDelay(at: instant(0)) == 3_600_000)
    #expect(health.retryDelay(at: instant(-1)) == nil, "the clock was set back")
  }
}

func instant(_ milliseconds: Int64) -> Instant { Instant(millisecondsSince1970: milliseconds) }
