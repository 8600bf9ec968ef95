import AppStore
import Entitlements
import JSON
import TestSupport
import Testing

@Suite struct RenewalTests {
  @Test("Auto-renew was turned off when Apple first signed that, however often it signs it again")
  func turnedOff() {
    func signed(_ status: AutoRenewStatus, _ day: Int64) -> RenewalFact {
      renewal(signed: day) { ($0.autoRenewStatus, $0.renewalDate) = (status, at(30)) }
    }
    func turnedOff(_ renewals: RenewalFact..., by day: Int64 = 10) -> Instant? {
      CustomerFacts(transactions: [period(0...30)], renewals: renewals)
        .renewalTurnedOff(ofLine: "L1", by: at(day))
    }
    #expect(turnedOff(signed(.off, 5), signed(.off, 9)) == at(5))
    #expect(turnedOff(signed(.off, 5), signed(.on, 7), signed(.off, 9)) == at(9))
    #expect(turnedOff(signed(.off, 5), signed(.on, 7)) == nil)
    #expect(turnedOff(signed(.off, 5), by: 4) == nil)
  }

  @Test(
    "Access continues in the grace period and ends without new evidence",
    arguments: [
      (29, EntitlementReason.subscriptionActive, true), (30, .inGracePeriod, true),
      (45, .inGracePeriod, true),
      (46, .billingRetry, false), (89, .billingRetry, false), (90, .billingLapsed, false),
    ])
  func grace(day: Int64, reason: EntitlementReason, entitled: Bool) {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let status = pro([period(0...30)], [failed], on: day)
    #expect(status.reason == reason)
    #expect(status.isEntitled == entitled)
    if entitled { #expect(status.until == at(46)) }
  }

  @Test(
    "A price increase of an Advanced Commerce item needs consent while Apple waits for it",
    arguments: [
      (nil, "SCHEDULED", nil), (nil, "PENDING", .pending), (nil, "ACCEPTED", .accepted),
      (1, "PENDING", .accepted),
    ] as [(Int64?, String, PriceIncreaseStatus?)])
  func priceOfItem(whole: Int64?, item: String, expected: PriceIncreaseStatus?) throws {
    var payload: JSONObject = [
      "originalTransactionId": "L", "productId": "monthly", "autoRenewStatus": 1, "signedDate": 0,
      "advancedCommerceInfo": [
        "items": [["SKU": "a"], ["SKU": "b", "priceIncreaseInfo": ["status": .string(item)]]]
      ],
    ]
    payload["priceIncreaseStatus"] = whole.map { JSONValue($0) }
    let fact = try RenewalFact(JWSRenewalInfoDecodedPayload(json: payload))
    #expect(fact.priceIncreaseStatus == expected)
  }

  @Test("Grace applies to its own period, never to a later one")
  func staleGrace() {
    let failed = renewal(signed: 30) { $0.gracePeriodExpiresDate = at(58) }
    #expect(pro([period(0...30), period(32...39)], [failed], on: 45).isEntitled == false)
  }

  @Test("A recovery in the grace period leaves no gap")
  func recovered() {
    let failed = renewal(signed: 30) { $0.gracePeriodExpiresDate = at(46) }
    let status = pro([period(0...30), period(36...66)], [failed], on: 33)
    #expect(status.until == at(66))
    #expect(status.state == .gracePeriod)
    #expect(status.checkAgainAt == at(36))
  }

  @Test("A revocation ends the grace period")
  func revokedInGrace() {
    let failed = renewal(signed: 30) { $0.gracePeriodExpiresDate = at(46) }
    let revoked = period(0...30).with { $0.revocationDate = at(33) }
    #expect(pro([revoked], [failed], on: 32).isEntitled)
    #expect(pro([revoked], [failed], on: 34).reason == .refunded)
  }

  @Test(
    "Auto-renew decides between the codes 5 and 4",
    arguments: [
      (AutoRenewStatus?.none, 5.0, Bool?.none), (.on, 5, true), (.off, 4, false), (.unrecognized(7), 5, nil),
    ])
  func autoRenew(status: AutoRenewStatus?, code: Double, willRenew: Bool?) {
    let answer = pro([period(0...30)], [renewal(signed: 1) { $0.autoRenewStatus = status }], on: 5)
    #expect(answer.code == code)
    #expect(answer.willRenew == willRenew)
  }

  @Test("Renewal info of an early renewal describes the next period")
  func earlyRenewal() {
    let facts = [period(0...30), period(30...60)]
    let early = renewal(signed: 29) {
      $0.autoRenewStatus = .on
      $0.renewalDate = at(60)
    }
    #expect(pro(facts, [early], on: 40).willRenew == true)
    let ofTheFirst = renewal(signed: 29) {
      $0.autoRenewStatus = .off
      $0.renewalDate = at(30)
    }
    #expect(pro(facts, [ofTheFirst], on: 40).willRenew == nil)
  }

  @Test("Renewal info from before an extension describes the extended period")
  func beforeExtension() {
    let before = renewal(signed: 3) {
      $0.autoRenewStatus = .off
      $0.renewalDate = at(30)
    }
    #expect(pro([period(0...45)], [before], on: 40).willRenew == false)
  }

  @Test("Renewal info of an early charge describes its period also after an extension")
  func earlyBeforeExtension() {
    let early = renewal(signed: 29) {
      $0.autoRenewStatus = .off
      $0.renewalDate = at(60)
    }
    let extended = period(30...75).with { $0.details.firstExpiresDate = at(60) }
    #expect(pro([period(0...30), extended], [early], on: 40).willRenew == false)
    #expect(pro([period(0...30), period(30...75)], [early], on: 40).willRenew == nil)
  }

  @Test("Renewal info of a lapsed period does not describe a new subscription")
  func resubscribed() {
    let ended = renewal(signed: 31) {
      $0.autoRenewStatus = .off
      $0.expirationIntent = .customerCancelled
    }
    let answer = pro([period(0...30), period(50...80)], [ended], on: 60)
    #expect(answer.willRenew == nil)
    #expect(answer.state == .activeRenewing)
    #expect(pro([period(0...30), period(50...80)], [ended], on: 90).reason == .expired)
  }

  @Test(
    "An expired subscription reports why it ended",
    arguments: [
      (ExpirationIntent?.none, EntitlementReason.expired, -5.0), (.customerCancelled, .cancelled, -5),
      (.billingError, .billingLapsed, -2), (.priceIncreaseNotAccepted, .priceIncreaseNotAccepted, -3),
      (.productUnavailable, .productUnavailable, -4), (.other, .expired, -5),
      (.unrecognized(9), .expired, -5),
    ])
  func intent(intent: ExpirationIntent?, reason: EntitlementReason, code: Double) {
    let status = pro([period(0...30)], [renewal(signed: 30) { $0.expirationIntent = intent }], on: 40)
    #expect(status.reason == reason)
    #expect(status.code == code)
    #expect(status.productState == .inactive)
    #expect(status.until == at(30))
  }

  @Test("In billing retry checkAgainAt is the end of the retry")
  func retry() {
    let status = pro([period(0...30)], [renewal(signed: 30) { $0.isInBillingRetry = true }], on: 40)
    #expect(status.state == .billingRetry)
    #expect(status.checkAgainAt == at(90))
  }

  @Test(
    "The offer is the decimal of the state code",
    arguments: [
      (OfferType?.none, OfferDiscountType?.none, 5.0), (.introductory, .freeTrial, 5.1),
      (.introductory, .payUpFront, 5.2), (.promotional, nil, 5.3), (.offerCode, .freeTrial, 5.3),
      (.winBack, nil, 5.3), (.retention, nil, 5.3), (.unrecognized(9), nil, 5),
    ])
  func substate(offer: OfferType?, discount: OfferDiscountType?, code: Double) {
    let bought = period(0...30).with {
      $0.offerType = offer
      $0.offerDiscountType = discount
    }
    #expect(pro([bought], on: 5).code == code)
  }
}
