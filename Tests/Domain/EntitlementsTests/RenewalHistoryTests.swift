import AppStore
import Entitlements
import TestSupport
import Testing

/// All renewal infos of a subscription count, each for its time.
@Suite struct RenewalHistoryTests {
  private func failed(signed day: Int64, until end: Int64?, _ period: Int64 = 30) -> RenewalFact {
    renewal(signed: day) {
      $0.autoRenewStatus = .on
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = end.map { at($0) }
      $0.renewalDate = at(period)
    }
  }

  private func on(signed day: Int64, _ end: Int64 = 30, price: Int64? = nil) -> RenewalFact {
    renewal(signed: day) {
      $0.autoRenewStatus = .on
      $0.renewalDate = at(end)
      $0.details.renewalPrice = price
    }
  }

  private func off(signed day: Int64, _ end: Int64 = 30) -> RenewalFact {
    renewal(signed: day) {
      $0.autoRenewStatus = .off
      $0.renewalDate = at(end)
    }
  }

  @Test("A grace period that is over stays access in the past after GRACE_PERIOD_EXPIRED")
  func expiredGrace() {
    let infos = [on(signed: 1), failed(signed: 30, until: 46), failed(signed: 46, until: nil)]
    let past = pro([period(0...30)], infos, on: 40)
    #expect(past.reason == .inGracePeriod && past.until == at(46))
    let now = pro([period(0...30)], infos, on: 50)
    #expect(now.reason == .billingRetry && now.until == at(46))
  }

  @Test("Renewal info about a period that is not stored says nothing about a later one")
  func missingPeriod() {
    let stale = failed(signed: 30, until: nil)
    #expect(pro([period(30...60)], [stale], on: 31).outlook == nil)
    #expect(pro([period(30...60)], [stale], on: 60).reason == .expired)
    #expect(pro([period(30...60)], [stale, on(signed: 31, 60)], on: 60).willRenew == true)
    #expect(pro([period(0...30), period(30...60)], [stale], on: 60).reason == .expired)
    #expect(pro([period(0...30)], [stale], on: 30).reason == .billingRetry)
  }

  @Test("Billing retry without a grace period ends a grace period that lasts longer")
  func shortenedGrace() {
    let infos = [failed(signed: 30, until: 46), failed(signed: 36, until: nil)]
    #expect(pro([period(0...30)], infos, on: 35).reason == .inGracePeriod)
    #expect(pro([period(0...30)], infos, on: 36).reason == .billingRetry)
  }

  @Test("Auto-renew turned off in the grace period ends access at the signature of that renewal info")
  func turnedOffInGrace() {
    let infos = [failed(signed: 30, until: 46), off(signed: 36)]
    #expect(pro([period(0...30)], infos, on: 35).reason == .inGracePeriod)
    #expect(pro([period(0...30)], infos, on: 35).until == at(36))
    let after = pro([period(0...30)], infos, on: 36)
    #expect(after.reason == .cancelled && after.until == at(36))
  }

  @Test(
    "Auto-renew turned off ends billing retry, also if the renewal info still has its flag",
    arguments: [
      (ExpirationIntent?.none, EntitlementReason.cancelled), (.customerCancelled, .cancelled),
      (.billingError, .billingLapsed),
    ])
  func turnedOffInRetry(intent: ExpirationIntent?, reason: EntitlementReason) {
    let turnedOff = renewal(signed: 36) {
      $0.autoRenewStatus = .off
      $0.isInBillingRetry = true
      $0.expirationIntent = intent
      $0.renewalDate = at(30)
    }
    let infos = [failed(signed: 30, until: nil), turnedOff]
    #expect(pro([period(0...30)], infos, on: 35).reason == .billingRetry)
    let after = pro([period(0...30)], infos, on: 36)
    #expect(after.reason == reason && after.actBy == nil)
  }

  @Test("Auto-renew turned off ends the operator's grace too")
  func turnedOffInOperatorGrace() {
    let facts = CustomerFacts(
      transactions: [period(0...30, "yearly")], renewals: [failed(signed: 30, until: nil), off(signed: 36)])
    #expect(fullPro(facts, on: 35).reason == .inOperatorGracePeriod)
    #expect(fullPro(facts, on: 36).reason == .cancelled)
    #expect(fullPro(facts, on: 90).reason == .cancelled)
  }

  @Test("The next paid period cuts the grace of every failure of the line")
  func recovered() {
    let transactions = [period(0...30), period(34...60), period(60...90)]
    let infos = [
      failed(signed: 30, until: 46), on(signed: 34, 60),
      failed(signed: 60, until: 76, 60), on(signed: 61, 90),
    ]
    #expect(pro(transactions, infos, on: 33).reason == .inGracePeriod)
    #expect(pro(transactions, infos, on: 40).reason == .subscriptionActive)
    #expect(pro(transactions, infos, on: 70).reason == .subscriptionActive)
    #expect(pro(transactions, infos, on: 91).until == at(90))
  }

  @Test("An upgrade in the grace period leaves the access before it")
  func upgradedInGrace() {
    let transactions = [
      period(0...30).with { ($0.isUpgraded, $0.signedDate) = (true, at(35)) },
      period(35...400, "yearly").with { $0.signedDate = at(35) },
    ]
    let infos = [failed(signed: 30, until: 46)]
    #expect(pro(transactions, infos, on: 33).reason == .inGracePeriod)
    #expect(pro(transactions, infos, on: 33).deciding?.productID == "monthly")
    let now = pro(transactions, infos, on: 40)
    #expect(now.deciding?.productID == "yearly" && now.since == at(0) && now.until == at(400))
    let steps = Explanation(
      CustomerFacts(transactions: transactions, renewals: infos), entitlement: "pro", in: app, at: at(33)
    ).steps
    // The paid period ended by itself, and the next purchase cut the grace.
    #expect(!steps.contains { $0.sentence.contains("it was upgraded") })
    #expect(steps.filter { $0.sentence.contains("L1-35 of the same purchase replaced it") }.count == 1)
  }

  @Test("The renewal info in force at an instant is the newest one signed by then")
  func inForce() {
    let infos = [on(signed: 1, price: 5), off(signed: 10), on(signed: 20, price: 7)]
    func willRenew(on day: Int64) -> Bool? { pro([period(0...30)], infos, on: day).willRenew }
    #expect([0, 5, 15, 25].map(willRenew) == [nil, true, false, true])
    #expect(pro([period(0...30)], infos, on: 5).outlook?.price == 5)
    #expect(pro([period(0...30)], infos, on: 25).outlook?.price == 7)
    #expect(pro([period(0...30)], infos, on: 15).state == .activeNotRenewing)
  }

  @Test("The first renewal info after the end of a period proves how it ended")
  func proof() {
    let ended = renewal(signed: 33) {
      $0.autoRenewStatus = .off
      $0.expirationIntent = .priceIncreaseNotAccepted
      $0.renewalDate = at(30)
    }
    #expect(pro([period(0...30)], [on(signed: 1), ended], on: 31).reason == .priceIncreaseNotAccepted)
    #expect(pro([period(0...30)], [on(signed: 1), ended], on: 29).willRenew == true)
  }

  @Test("A failed payment that was reported before the end of the period counts until Apple gives up")
  func failedBeforeEnd() {
    let lapsed = renewal(signed: 91) {
      $0.autoRenewStatus = .off
      $0.expirationIntent = .billingError
      $0.renewalDate = at(30)
    }
    func reasons(_ last: RenewalFact, on days: [Int64]) -> [EntitlementReason] {
      let infos = [on(signed: 1), failed(signed: 29, until: nil), last]
      return days.map { pro([period(0...30)], infos, on: $0).reason }
    }
    let retry = EntitlementReason.billingRetry
    #expect(
      reasons(lapsed, on: [29, 30, 60, 89, 90, 100])
        == [.subscriptionActive, retry, retry, retry, .billingLapsed, .billingLapsed])
    #expect(reasons(off(signed: 40), on: [30, 39, 40]) == [retry, retry, .cancelled])
  }

  @Test("A document that was signed in the future of the service's clock counts from its arrival")
  func skewedClock() {
    var facts = CustomerFacts(transactions: [period(0...30)])
    facts.insert(off(signed: 12), knownAt: at(10))
    #expect(evaluate(facts, entitlement: "pro", in: app, at: at(9)).willRenew == nil)
    #expect(evaluate(facts, entitlement: "pro", in: app, at: at(10)).willRenew == false)
  }

  @Test("A repetition is stored without its content, and changes no answer")
  func repetition() {
    var facts = CustomerFacts(transactions: [period(0...30)], renewals: [on(signed: 1), off(signed: 5)])
    let answers = (0...100).map { evaluate(facts, entitlement: "pro", in: app, at: at($0)) }
    for day in Int64(6)..<30 { facts.insert(off(signed: day)) }
    #expect(facts.renewalHistories.first?.contents.count == 2)
    #expect(facts.renewalHistories.first?.signatures.count == 26)
    #expect((0...100).map { evaluate(facts, entitlement: "pro", in: app, at: at($0)) } == answers)
    let changes = [
      facts.insert(off(signed: 7)), facts.insert(off(signed: 3)), facts.insert(on(signed: 31)),
    ]
    #expect(changes == [.duplicate, .older, .latest])
  }

  @Test(
    "The facts depend on the set of renewal infos, not on the order of arrival",
    arguments: UInt64(0)..<UInt64(lifeCount(short: 60)))
  func order(seed: UInt64) throws {
    var random = SplitMix64(state: seed &+ 31_000)
    let customer = randomCustomer(&random)
    // Few contents at few dates, so that repetitions, gaps and equal dates are common.
    var documents: [(RenewalFact, Instant)] = []
    for _ in 0..<Int.random(in: 1...14, using: &random) {
      let other = randomCustomer(&random)
      guard var fact = other.renewals.randomElement(using: &random) else { continue }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        fact.signedDate = at(.random(in: 0...20, using: &random) * 10)
        documents.append(
          (fact, fact.signedDate.advanced(byMilliseconds: .random(in: -5...5, using: &random))))
      }
    }
    func facts(_ documents: [(RenewalFact, Instant)]) -> CustomerFacts {
      var facts = CustomerFacts(transactions: customer.transactions)
      for (fact, knownAt) in documents { facts.insert(fact, knownAt: knownAt) }
      return facts
    }
    let straight = facts(documents)
    for _ in 0..<5 {
      let mixed = (documents + documents.prefix(3)).shuffled(using: &random)
      #expect(facts(mixed) == straight)
      var halves = facts(Array(mixed.prefix(mixed.count / 2)))
      halves.merge(facts(Array(mixed.dropFirst(mixed.count / 2))))
      #expect(halves == straight)
    }
    let answers = stride(from: Int64(-5), through: 300, by: 5).map { fullPro(straight, on: $0) }
    let again = facts(documents.shuffled(using: &random))
    #expect(stride(from: Int64(-5), through: 300, by: 5).map { fullPro(again, on: $0) } == answers)
  }
}
