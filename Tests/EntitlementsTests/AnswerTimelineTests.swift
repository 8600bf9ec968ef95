import AppStore
import Entitlements
import Testing

@Suite struct AnswerTimelineTests {
  @Test("At every moment of which it tells, it answers as the rules do", arguments: UInt64(0)..<400)
  func agrees(seed: UInt64) throws {
    var random = SplitMix64(state: seed &+ 7_000)
    let facts = randomCustomer(&random)
    let start = at(.random(in: -5...160, using: &random), hours: .random(in: 0...23, using: &random))
    for entitlement in ["pro", "plus", "unheard of"] {
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

/// Moments at and around everything that the facts name, and some of no importance.
private func moments(of facts: CustomerFacts, _ random: inout SplitMix64) -> [Instant] {
  let named =
    facts.transactions.flatMap { [$0.purchaseDate, $0.expiresDate, $0.revocationDate].compactMap(\.self) }
    + facts.renewals.compactMap(\.gracePeriodExpiresDate)
  let retryEnds = facts.transactions.compactMap { $0.expiresDate?.advanced(byMilliseconds: 60 * 86_400_000) }
  let anyOther = (0..<60).map { _ in
    at(.random(in: -10...600, using: &random), hours: .random(in: 0...23, using: &random))
  }
  return (named + retryEnds).flatMap { moment in
    (Int64(-1)...1).map { moment.advanced(byMilliseconds: $0) }
  } + anyOther
}
