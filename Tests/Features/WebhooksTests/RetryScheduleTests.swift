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
  /// A breaker after failures of the messages at `positions`, and those that are due when the webhook is up again.
  private func failed(
    _ positions: ClosedRange<Int64>, isFirst: Bool = true, at time: Int64 = 0
  ) -> (WebhookCircuitBreaker, Set<Int64>) {
    var health = WebhookCircuitBreaker()
    var due: Set<Int64> = []
    for position in positions {
      due = health.failed(position, isFirst: isFirst, at: instant(time), retryAfter: nil)
    }
    return (health, due)
  }

  @Test("A webhook is down after five failures in a row, and probed once a minute")
  func down() {
    var (health, due) = failed(1...4)
    #expect(due.isEmpty)
    #expect(!health.isDown)
    #expect(health.retryDelay(at: instant(0)) == nil)
    (health, due) = failed(1...5)
    #expect(due == [1, 2, 3, 4, 5])
    #expect(health.isDown)
    #expect(health.retryDelay(at: instant(1)) == 59_999)
    #expect(health.retryDelay(at: instant(60_000)) == nil)
    health.succeeded()
    #expect(!health.isDown)
  }

  @Test("Messages that failed before the webhook was away keep their schedule")
  func repeated() {
    var (health, due) = failed(1...5, isFirst: false)
    #expect(due == [5], "a message to probe the webhook with")
    due = health.failed(5, isFirst: false, at: instant(1), retryAfter: nil)
    #expect(due == [5])
    due = health.failed(1, isFirst: false, at: instant(1), retryAfter: nil)
    #expect(due.isEmpty)
    due = health.failed(9, isFirst: true, at: instant(1), retryAfter: nil)
    #expect(due == [9])
    due = health.failed(9, isFirst: false, at: instant(1), retryAfter: 1)
    #expect(due.isEmpty, "the webhook demands a delay")
  }

  @Test("Refusals do not stop a webhook that is up, and do not end the pause of one that is down")
  func refused() {
    var health = WebhookCircuitBreaker()
    for _ in 0..<9 { health.refused(at: instant(0)) }
    #expect(!health.isDown)
    #expect(health.retryDelay(at: instant(0)) == nil)
    (health, _) = failed(1...5)
    health.refused(at: instant(60_000))
    #expect(health.isDown)
    #expect(health.retryDelay(at: instant(60_000)) == 60_000)
  }

  @Test("A success resets the number of failures")
  func mixed() {
    var health = WebhookCircuitBreaker()
    for position in 0..<20 as Range<Int64> {
      let due = health.failed(position, isFirst: true, at: instant(0), retryAfter: nil)
      #expect(due.isEmpty)
      health.succeeded()
    }
    #expect(!health.isDown)
  }

  @Test("Retry-After delays deliveries for up to an hour")
  func retryAfter() {
    var health = WebhookCircuitBreaker()
    _ = health.failed(1, isFirst: true, at: instant(0), retryAfter: 7_000)
    _ = health.failed(2, isFirst: true, at: instant(1_000), retryAfter: 2_000)
    #expect(health.retryDelay(at: instant(1_000)) == 6_000)
    _ = health.failed(3, isFirst: true, at: instant(0), retryAfter: 90_000_000)
    #expect(health.retryDelay(at: instant(0)) == 3_600_000)
    #expect(health.retryDelay(at: instant(-1)) == nil, "the clock was set back")
    _ = health.failed(4, isFirst: true, at: instant(-1), retryAfter: 5_000)
    #expect(health.retryDelay(at: instant(-1)) == 5_000)
  }

  @Test("A success of a message that was in flight does not end a Retry-After")
  func retryAfterOutlivesSuccess() {
    var health = WebhookCircuitBreaker()
    _ = health.failed(1, isFirst: true, at: instant(0), retryAfter: 7_000)
    health.succeeded()
    #expect(health.retryDelay(at: instant(0)) == 7_000)
    (health, _) = failed(1...5)
    health.succeeded()
    #expect(health.retryDelay(at: instant(0)) == nil)
  }

  @Test("A webhook that is down is probed a minute after a failure, also after the clock was set back")
  func setBack() {
    var (health, _) = failed(1...5)
    _ = health.failed(6, isFirst: true, at: instant(-7_200_000), retryAfter: nil)
    #expect(health.retryDelay(at: instant(-7_200_000)) == 60_000)
    #expect(health.retryDelay(at: instant(-7_200_001)) == nil)
  }

  @Test("A failure with Retry-After that opens the circuit makes the earlier messages due")
  func openedByRetryAfter() {
    var (health, _) = failed(1...4)
    #expect(health.failed(5, isFirst: true, at: instant(0), retryAfter: 7_000) == [1, 2, 3, 4])
    #expect(health.failed(6, isFirst: true, at: instant(0), retryAfter: 7_000).isEmpty)
  }
}

func instant(_ milliseconds: Int64) -> Instant { Instant(millisecondsSince1970: milliseconds) }
