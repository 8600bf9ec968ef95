import AppStore
import Entitlements
import TestSupport
import Testing

/// The answers to Apple's requests for retention messages, and their outcomes.
@Suite struct RetentionPolicyTests {
  private static let message = "0b4f5a2e-1111-4222-8333-444455556666"
  private static let offer = RetentionAnswer.promotionalOffer(
    messageID: message, productID: nil, offerID: "stay", form: .jws)

  private func rule(
    _ name: String = "r", _ answers: [RetentionAnswer] = [.message(id: message)],
    _ change: (inout RetentionConditions) -> Void = { _ in }
  ) -> RetentionPolicy.Rule {
    var conditions = RetentionConditions()
    change(&conditions)
    return RetentionPolicy.Rule(
      name: name, conditions: conditions, choices: answers.map { RetentionPolicy.Choice($0) })
  }

  private func decide(
    _ rules: [RetentionPolicy.Rule], _ transactions: [TransactionFact] = [period(0...30)],
    _ renewals: [RenewalFact] = [renewal(signed: 1) { $0.autoRenewStatus = .on }],
    locale: String = "en-US", openRefund: Bool = false, defaultMessage: String? = nil, on day: Int64 = 10
  ) throws -> RetentionDecision {
    let app = AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox], products: Array(app.products.values),
      segments: ["new": SegmentFilter().with { $0.maxDaysInState = 20 }])
    let facts = CustomerFacts(transactions: transactions, renewals: renewals)
    let subscriber = try #require(
      RetentionSubscriber(
        facts, productID: transactions.last?.productID ?? "", locale: locale, isUnclaimed: false,
        hasOpenRefund: openRefund, in: app, at: at(day)))
    return RetentionPolicy(rules: rules, defaultMessageID: defaultMessage)
      .decide(about: subscriber, in: app, at: at(day))
  }

  @Test("The first rule that matches decides; without one, the default message, or nothing")
  func order() throws {
    let rules = [rule("yearly") { $0.productIDs = ["yearly"] }, rule("any"), rule("later")]
    #expect(try decide(rules).rule == "any")
    #expect(try decide(rules, [period(0...30, "yearly")]).rule == "yearly")
    let none = try decide([rules[0]])
    #expect(none.answer == .nothing && none.reason == .noRule)
    let standard = try decide([rules[0]], defaultMessage: Self.message)
    #expect(standard.answer == .message(id: Self.message) && standard.reason == .defaultMessage)
  }

  @Test("Each condition decides about its property")
  func conditions() throws {
    func matches(
      on day: Int64 = 10, locale: String = "en-US", _ change: (inout RetentionConditions) -> Void
    ) throws -> Bool {
      var bought = period(0...30)
      bought.details.storefront = "DEU"
      return try decide([rule("r", change)], [bought], locale: locale, on: day).reason == .rule
    }
    #expect(try matches { $0.storefronts = ["USA", "DEU"] })
    #expect(try !matches { $0.storefronts = ["USA"] })
    #expect(try matches { $0.subscriptionGroups = ["pro"] })
    #expect(try !matches { $0.subscriptionGroups = ["other"] })
    #expect(try matches { $0.locales = ["en"] })
    #expect(try matches { $0.locales = ["EN-us"] })
    #expect(try !matches(locale: "eng-US") { $0.locales = ["en"] })
    #expect(try matches { $0.modes = [.standard] })
    #expect(try !matches { $0.modes = [.freeTrial] })
    #expect(try matches { $0.minTenureDays = 10 })
    #expect(try !matches { $0.minTenureDays = 11 })
    #expect(try matches { $0.maxTenureDays = 11 })
    #expect(try !matches { $0.maxTenureDays = 10 })
    #expect(try matches { $0.minPaidDays = 10 })
    #expect(try !matches { $0.minPaidDays = 11 })
    #expect(try matches { $0.segments = ["new", "other"] })
    #expect(try !matches(on: 25) { $0.segments = ["new"] })
    #expect(try !matches { $0.segments = ["other"] })
  }

  private func rule(
    _ name: String, _ change: (inout RetentionConditions) -> Void
  ) -> RetentionPolicy.Rule {
    rule(name, [.message(id: Self.message)], change)
  }

  @Test(
    "Family members and seat holders get nothing", arguments: [InAppOwnershipType.familyShared, .assigned])
  func notPayers(ownership: InAppOwnershipType) throws {
    let shared = period(0...30).with { $0.ownership = ownership }
    let decision = try decide([rule()], [shared], defaultMessage: Self.message)
    #expect(decision.answer == .nothing && decision.reason == .notPayer && decision.rule.isEmpty)
  }

  @Test("A customer with a commitment gets nothing until it ends")
  func committed() throws {
    let payment = period(0...30, "yearly").with {
      $0.details.billingPlanType = .monthly
      $0.details.commitment = .init(billingPeriodNumber: 1, totalBillingPeriods: 12, expiresDate: at(360))
    }
    #expect(try decide([rule()], [payment]).reason == .committed)
    #expect(try decide([rule()], [payment.with { $0.details.commitment = nil }]).reason == .rule)
  }

  @Test("A customer with an open refund, a failed payment or no subscription gets nothing")
  func others() throws {
    #expect(try decide([rule()], openRefund: true).reason == .openRefund)
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    #expect(try decide([rule()], [period(0...30)], [failed], on: 31).reason == .paymentProblem)
    let over = renewal(signed: 30) { $0.expirationIntent = .customerCancelled }
    #expect(try decide([rule()], [period(0...30)], [over], on: 40).reason == .notActive)
  }

  @Test("Weights divide the subscribers, and each gets the same answer again")
  func weights() throws {
    let choices = [
      RetentionPolicy.Choice(.nothing, weight: 1), .init(.message(id: Self.message), weight: 3),
    ]
    let rules = [RetentionPolicy.Rule(name: "split", choices: choices)]
    var counts: [RetentionAnswer: Int] = [:]
    for number in 0..<2000 {
      let bought = [period(0...30, line: "20000\(number)")]
      let answer = try decide(rules, bought, []).answer
      #expect(try decide(rules, bought, []).answer == answer)
      counts[answer, default: 0] += 1
    }
    #expect((400...600).contains(counts[.nothing] ?? 0))
    #expect(counts.values.reduce(0, +) == 2000)
  }

  @Test(
    "No offer follows one that was taken and begins with the next period",
    arguments: [OfferType.promotional, .retention, .winBack])
  func announcedOffer(type: OfferType) throws {
    let taken = renewal(signed: 9) {
      $0.autoRenewStatus = .on
      $0.details.offerType = type
    }
    let decision = try decide([rule("offer", [Self.offer]), rule("then")], [period(0...30)], [taken])
    #expect(decision.rule == (type == .winBack ? "offer" : "then"))
  }

  @Test("No offer follows another one, and no product is offered that the subscriber has")
  func unsuitable() throws {
    let before = period(0...30).with { $0.offerType = .promotional }
    let rules = [rule("offer", [Self.offer]), rule("then")]
    #expect(try decide(rules, [before, period(30...60)], on: 40).rule == "then")
    #expect(try decide(rules, [before, period(300...330)], on: 310).rule == "offer")
    let yearly = RetentionAnswer.alternateProduct(messageID: Self.message, productID: "yearly", plan: nil)
    #expect(try decide([rule("switch", [yearly])]).answer == yearly)
    #expect(try decide([rule("switch", [yearly])], [period(0...30, "yearly")]).reason == .noRule)
  }
}

/// The actions of a subscriber after a request on day 10 about a monthly subscription from day 0 to day 30.
@Suite struct RetentionOutcomeTests {
  private func outcome(
    _ transactions: [TransactionFact] = [period(0...30)], _ renewals: [RenewalFact] = [],
    renewsWith product: String = "monthly", offer: String = "stay", on day: Int64 = 17
  ) -> RetentionOutcome {
    RetentionFollowUp(askedAt: at(10), productID: "monthly", renewalProductID: product, offerID: offer)
      .outcome(CustomerFacts(transactions: transactions, renewals: renewals), at: at(day))
  }

  private func info(
    _ status: AutoRenewStatus, signed day: Int64 = 11, _ change: (inout RenewalFact) -> Void = { _ in }
  ) -> RenewalFact {
    renewal(signed: day) {
      $0.autoRenewStatus = status
      $0.autoRenewProductID = "monthly"
      change(&$0)
    }
  }

  @Test("A subscription that renews is saved, also if renewal was off for a while; another one has left")
  func savedOrLeft() {
    #expect(outcome() == .saved)
    #expect(outcome([period(0...30)], [info(.on, signed: 5)]) == .saved)
    #expect(outcome([period(0...30)], [info(.off)]) == .left)
    #expect(outcome([period(0...30)], [info(.off), info(.on, signed: 12)]) == .saved)
    #expect(outcome([period(0...30)], [], on: 31) == .left)
    #expect(outcome([period(0...30), period(30...60)], [info(.on, signed: 30)], on: 31) == .saved)
    #expect(outcome([period(0...30).with { $0.revocationDate = at(12) }], [info(.on)]) == .left)
    #expect(outcome([]) == .unknown)
    let failed = info(.on, signed: 30) {
      $0.isInBillingRetry = true
      $0.expirationIntent = .billingError
    }
    #expect(outcome([period(0...30)], [failed], on: 31) == .saved)
    let lapsed = info(.on, signed: 90) { $0.expirationIntent = .billingError }
    #expect(outcome([period(0...30)], [failed, lapsed], on: 91) == .left)
  }

  @Test("The offer of the answer counts when the next period has it, as does a retention offer of Apple's")
  func offers() {
    let taken = info(.on) {
      $0.details.offerType = .promotional
      $0.details.offerIdentifier = "stay"
    }
    #expect(outcome([period(0...30)], [taken]) == .offerTaken)
    #expect(outcome([period(0...30)], [taken], offer: "other") == .saved)
    #expect(outcome([period(0...30)], [info(.on) { $0.details.offerType = .retention }]) == .offerTaken)
    let next = period(30...60).with {
      $0.offerType = .promotional
      $0.details.offerIdentifier = "stay"
    }
    #expect(outcome([period(0...30), next], [], on: 31) == .offerTaken)
    let running = next.with {
      $0.purchaseDate = at(0)
      $0.expiresDate = at(30)
    }
    #expect(outcome([running], [taken]) == .saved, "the offer was older than the request")
    let upgrade = running.with {
      $0.transactionID = "U"
      $0.productID = "yearly"
      $0.purchaseDate = at(8)
      $0.details.transactionReason = .purchase
    }
    let replaced = period(9...39).with {
      $0.details.transactionReason = .renewal
      $0.isUpgraded = true
    }
    #expect(outcome([period(-21...9), upgrade, replaced], [taken]) == .saved, "the upgrade has the offer")
  }

  @Test("Another product than the one planned before counts as a switch")
  func switches() {
    let yearly = info(.on) { $0.autoRenewProductID = "yearly" }
    #expect(outcome([period(0...30)], [yearly]) == .switched)
    #expect(outcome([period(0...30)], [yearly], renewsWith: "yearly") == .saved)
    #expect(outcome([period(0...30), period(12...377, "yearly")], [], on: 13) == .switched)
    #expect(outcome([period(0...30)], [info(.off) { $0.autoRenewProductID = "yearly" }]) == .left)
  }

  @Test("An outcome is evaluated within minutes, each day, and last at the end of its time")
  func schedule() {
    let request = RetentionFollowUp(askedAt: at(10), productID: "", renewalProductID: "", offerID: "")
    var times: [Int64] = []
    var now = at(10)
    while let next = request.nextEvaluation(after: now, until: 3) {
      times.append(next.milliseconds(since: at(10)) / 60_000)
      now = next
    }
    #expect(times == [10, 60, 360, 1440, 2880, 4320])
  }
}

extension SegmentFilter {
  fileprivate func with(_ change: (inout SegmentFilter) -> Void) -> SegmentFilter {
    var copy = self
    change(&copy)
    return copy
  }
}
