import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct AnswerTimelineTests {
  @Test(
    "A timeline equals the evaluation at every instant it covers",
    arguments: UInt64(0)..<UInt64(lifeCount(short: 60)))
  func agrees(seed: UInt64) throws {
    var random = SplitMix64(state: seed &+ 7_000)
    let facts = randomCustomer(&random)
    let start = at(.random(in: -5...160, using: &random), hours: .random(in: 0...23, using: &random))
    for (app, entitlement) in questions + [(patientApp, "pro")] {
      let timeline = AnswerTimeline(facts, entitlement: entitlement, in: app, from: start)
      let bound = try #require(timeline.segments.last).end
      #expect(timeline.segments.count <= AnswerTimeline.segmentLimit)
      for instant in instants(of: facts, &random) {
        let precomputed = timeline.answer(at: instant)
        let isCovered = start <= instant && bound.map { instant < $0 } ?? true
        #expect((precomputed != nil) == isCovered)
        if let precomputed {
          #expect(
            precomputed == evaluate(facts, entitlement: entitlement, in: app, at: instant), "\(instant)")
        }
      }
    }
  }

  @Test("Access stays the same until checkAgainAt", arguments: UInt64(0)..<UInt64(lifeCount(short: 16)))
  func accessUntilCheckAgain(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 9_500)
    let facts = randomCustomer(&random)
    let times = instants(of: facts, &random).sorted()
    for now in times where random.next() % 8 == 0 {
      let status = evaluate(facts, entitlement: "pro", in: patientApp, at: now)
      for later in times.drop(while: { $0 <= now }) {
        guard status.checkAgainAt.map({ later < $0 }) ?? true else { break }
        let other = evaluate(facts, entitlement: "pro", in: patientApp, at: later)
        #expect(other.accessLevel == status.accessLevel, "at \(later) and at \(now)")
      }
    }
  }

  @Test(
    "Without slack an answer stays the same until checkAgainAt",
    arguments: UInt64(0)..<UInt64(lifeCount(short: 16)))
  func checkAgain(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 9_000)
    let facts = randomCustomer(&random)
    let times = instants(of: facts, &random).sorted()
    for (app, entitlement) in questions {
      for now in times where random.next() % 8 == 0 {
        let status = evaluate(facts, entitlement: entitlement, in: app, at: now)
        #expect(status.checkAgainAt.map { $0 > now } ?? true)
        for later in times.drop(while: { $0 <= now }) {
          guard status.checkAgainAt.map({ later < $0 }) ?? true else { break }
          guard evaluate(facts, entitlement: entitlement, in: app, at: later) != status else { continue }
          Issue.record("\(entitlement) is another at \(later) than at \(now)")
        }
      }
    }
  }

  @Test("The timeline of an active subscription contains its end and the answer after it")
  func subscription() {
    let facts = CustomerFacts(transactions: [period(0...30)])
    let timeline = AnswerTimeline(facts, entitlement: "pro", in: app, from: at(10))
    #expect(timeline.segments.map(\.end) == [at(30), nil])
    #expect(timeline.segments.map(\.status.reason) == [.subscriptionActive, .expired])
    #expect(timeline.answer(at: at(9)) == nil)
  }

  @Test("The timeline contains grace, billing retry and the end of billing retry")
  func billingRetry() {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let facts = CustomerFacts(transactions: [period(0...30)], renewals: [failed])
    let timeline = AnswerTimeline(facts, entitlement: "pro", in: app, from: at(10))
    #expect(timeline.segments.map(\.end) == [at(30), at(46), at(90), nil])
    #expect(
      timeline.segments.map(\.status.reason) == [
        .subscriptionActive, .inGracePeriod, .billingRetry, .billingLapsed,
      ])
  }

  @Test("A timeline with too many changes ends early and says when")
  func bounded() {
    let facts = CustomerFacts(
      transactions: (0..<20).map { period(($0 * 40)...($0 * 40 + 30), line: "L\($0)") })
    let timeline = AnswerTimeline(facts, entitlement: "pro", in: app, from: at(1))
    #expect(timeline.segments.count == AnswerTimeline.segmentLimit)
    #expect(timeline.segments.last?.end == at(160))
    #expect(timeline.answer(at: at(160)) == nil)
    #expect(timeline.answer(at: at(159))?.isEntitled == false)
  }
}

let questions = [
  (app, "pro"), (app, "plus"), (app, "unheard of"), (fullApp, "pro"), (fullApp, "export"),
  (fullApp, "archive"),
]

/// Instants at and around every date in the facts, and random ones.
func instants(of facts: CustomerFacts, _ random: inout SplitMix64) -> [Instant] {
  let named =
    facts.transactions.flatMap { [$0.purchaseDate, $0.expiresDate, $0.revocationDate].compactMap(\.self) }
    + facts.renewals.compactMap(\.gracePeriodExpiresDate)
    + facts.renewalHistories.flatMap { $0.signatures.map(\.inForceFrom) }
    + facts.grants.flatMap { [$0.since, $0.until, $0.revokedAt].compactMap(\.self) }
    + facts.appTransactions.compactMap(\.originalPurchaseDate)
  let retryEnds = facts.transactions.compactMap(\.expiresDate).flatMap { expiry in
    [Int64(3), 20, 60].map { expiry.advanced(byMilliseconds: $0 * 86_400_000) }
  }
  let anyOther = (0..<60).map { _ in
    at(.random(in: -10...600, using: &random), hours: .random(in: 0...23, using: &random))
  }
  return (named + retryEnds).flatMap { instant in
    (Int64(-1)...1).map { instant.advanced(byMilliseconds: $0) }
  } + anyOther
}
