import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct AnswerTimelineTests {
  @Test("At every moment of which it tells, it answers as the rules do", arguments: UInt64(0)..<200)
  func agrees(seed: UInt64) throws {
    var random = SplitMix64(state: seed &+ 7_000)
    let facts = randomCustomer(&random)
    let start = at(.random(in: -5...160, using: &random), hours: .random(in: 0...23, using: &random))
    for (app, entitlement) in questions {
      let timeline = AnswerTimeline(facts, entitlement: entitlement, in: app, from: start)
      let bound = try #require(timeline.segments.last).end
      #expect(timeline.segments.count <= AnswerTimeline.segmentLimit)
      for moment in moments(of: facts, &random) {
        let told = timeline.answer(at: moment)
        let isTold = start <= moment && bound.map { moment < $0 } ?? true
        #expect((told != nil) == isTold)
        if let told {
          #expect(told == evaluate(facts, entitlement: entitlement, in: app, at: moment), "\(moment)")
        }
      }
    }
  }

  @Test(
    "Until the moment at which it is to be asked again an answer stays as it is", arguments: UInt64(0)..<40)
  func checkAgain(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 9_000)
    let facts = randomCustomer(&random)
    let times = moments(of: facts, &random).sorted()
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

  @Test("Of a running subscription it tells the end, and what is then")
  func subscription() {
    let facts = CustomerFacts(transactions: [period(0...30)])
    let timeline = AnswerTimeline(facts, entitlement: "pro", in: app, from: at(10))
    #expect(timeline.segments.map(\.end) == [at(30), nil])
    #expect(timeline.segments.map(\.status.reason) == [.subscriptionActive, .expired])
    #expect(timeline.answer(at: at(9)) == nil)
  }

  @Test("Grace, billing retry and its end are all told in advance")
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

  @Test("More than a handful of changes are not told, and the end of what is told is known")
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

private let questions = [
  (app, "pro"), (app, "plus"), (app, "unheard of"), (fullApp, "pro"), (fullApp, "export"),
  (fullApp, "archive"),
]

/// Moments at and around everything that the facts name, and some of no importance.
private func moments(of facts: CustomerFacts, _ random: inout SplitMix64) -> [Instant] {
  let named =
    facts.transactions.flatMap { [$0.purchaseDate, $0.expiresDate, $0.revocationDate].compactMap(\.self) }
    + facts.renewals.compactMap(\.gracePeriodExpiresDate)
    + facts.grants.flatMap { [$0.since, $0.until, $0.revokedAt].compactMap(\.self) }
    + facts.appTransactions.compactMap(\.originalPurchaseDate)
  let retryEnds = facts.transactions.compactMap(\.expiresDate).flatMap { expiry in
    [Int64(3), 20, 60].map { expiry.advanced(byMilliseconds: $0 * 86_400_000) }
  }
  let anyOther = (0..<60).map { _ in
    at(.random(in: -10...600, using: &random), hours: .random(in: 0...23, using: &random))
  }
  return (named + retryEnds).flatMap { moment in
    (Int64(-1)...1).map { moment.advanced(byMilliseconds: $0) }
  } + anyOther
}
