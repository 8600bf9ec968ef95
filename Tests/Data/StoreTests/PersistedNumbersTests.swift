import AppStore
import Entitlements
import Store
import Testing

/// The numbers under which members and states are stored. A store of an earlier version is read by them, so an expected
/// value of this file never changes.
@Suite struct PersistedNumbersTests {
  /// Members as they are stored: the number, the length of the text, and the text.
  private func encoded(_ members: [(number: UInt8, text: String)]) -> [UInt8] {
    members.flatMap { [$0.number, UInt8($0.text.utf8.count)] + Array($0.text.utf8) }
  }

  @Test("The members of a segment's conditions")
  func segment() throws {
    var filter = SegmentFilter()
    filter.states = [.activeAutoRenewOn]
    (filter.productIDs, filter.subscriptionGroups) = (["product"], ["group"])
    (filter.entitlements, filter.storefronts, filter.modes) = (["pro"], ["DEU"], [.freeTrial])
    (filter.sinceFrom, filter.sinceBefore) = (
      Instant(millisecondsSince1970: 1_000), Instant(millisecondsSince1970: 2_000)
    )
    (filter.minDaysInState, filter.maxDaysInState, filter.endsWithinDays) = (3, 4, 5)
    (filter.commitmentEndsWithinDays, filter.minPaidDays) = (6, 7)
    (filter.needsPriceConsent, filter.hasWinBackOffer, filter.isUnclaimed) = (true, true, false)
    filter.ownerships = [.purchased]
    let conditions = SegmentConditions(filter, productIDs: ["product"])
    let bytes = encoded([
      (1, "1"), (2, "product"), (3, "group"), (4, "pro"), (5, "DEU"), (6, "1"), (7, "1000"), (8, "2000"),
      (9, "3"), (10, "4"), (11, "5"), (12, "6"), (13, "7"), (14, "1"), (15, "1"), (16, "0"),
      (19, "PURCHASED"), (17, "1"), (18, "product"),
    ])
    #expect(SegmentCoding.encode(conditions) == bytes)
    #expect(try SegmentCoding.conditions(bytes) == conditions)
  }

  @Test("The members of an event's transaction")
  func subject() throws {
    let subject = EventSubject(
      transactionID: "2", originalTransactionID: "1", productID: "yearly", type: .autoRenewableSubscription,
      ownership: .assigned, quantity: 5, revokedSeatQuantity: 3, price: 9_990, currency: "EUR",
      billingPlanType: .monthly,
      commitment: TransactionDetails.Commitment(
        billingPeriodNumber: 4, totalBillingPeriods: 12, expiresDate: Instant(millisecondsSince1970: 7_000),
        price: 119_880),
      segment: "trials")
    let bytes = encoded([
      (1, "2"), (2, "1"), (3, "yearly"), (4, "Auto-Renewable Subscription"), (5, "ASSIGNED"), (6, "5"),
      (14, "3"), (7, "9990"), (8, "EUR"), (9, "MONTHLY"), (15, "trials"), (10, "4"), (11, "12"),
      (12, "7000"), (13, "119880"),
    ])
    #expect(SubjectCoding.encode(subject) == bytes)
    #expect(try SubjectCoding.subject(bytes) == subject)
  }

  @Test("The states of segments, payment modes and access levels")
  func states() {
    #expect(
      SegmentState.allCases.map { "\($0.rawValue) \($0.name)" } == [
        "1 ACTIVE_AUTO_RENEW_ON", "2 ACTIVE_AUTO_RENEW_OFF", "3 NON_RENEWING", "4 LIFETIME",
        "6 GRACE_PERIOD", "7 MISSING", "8 BILLING_RETRY", "9 EXPIRED_BILLING", "10 EXPIRED_PRICE_INCREASE",
        "11 PRODUCT_UNAVAILABLE", "12 CANCELLED", "13 UPGRADED", "14 REFUNDED_APP_ISSUE",
        "15 REFUNDED_OTHER", "16 FAMILY_SHARING_ENDED", "17 NON_RENEWING_EXPIRED",
      ])
    let modes: [EntitlementSubstate] = [.standard, .freeTrial, .introductoryOffer, .subscriptionOffer]
    #expect(EntitlementSubstate.allCases == modes && modes.map(\.rawValue) == [0, 1, 2, 3])
    let levels: [AccessLevel] = [.none, .limited, .full]
    #expect(AccessLevel.allCases == levels && levels.map(\.rawValue) == [0, 1, 2])
  }
}
