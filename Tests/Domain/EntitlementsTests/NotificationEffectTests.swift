import AppStore
import Entitlements
import TestSupport
import Testing

/// The effect of each version 2 notification on the answer.
@Suite struct NotificationEffectTests {
  struct Effect: CustomTestStringConvertible {
    let name: String
    var transactions: [TransactionFact] = [period(0...30)]
    var renewals: [RenewalFact] = []
    var day: Int64 = 10
    let reason: EntitlementReason
    let code: Double
    var product: String? = "monthly"
    var renewsTo: String?

    var testDescription: String { name }
  }

  @Test("Each notification type has its documented effect", arguments: Self.whileEntitled + Self.afterwards)
  func effect(of notification: Effect) {
    let status = pro(notification.transactions, notification.renewals, on: notification.day)
    #expect(status.reason == notification.reason)
    #expect(status.code == notification.code)
    #expect(status.isEntitled == (notification.code > 0))
    #expect(status.deciding?.productID == notification.product)
    if let renewsTo = notification.renewsTo { #expect(status.outlook?.productID == renewsTo) }
  }

  private static let whileEntitled = [
    Effect(name: "SUBSCRIBED INITIAL_BUY", reason: .subscriptionActive, code: 5),
    Effect(
      name: "SUBSCRIBED RESUBSCRIBE, another product",
      transactions: [period(0...30), period(90...120, "yearly")],
      day: 100, reason: .subscriptionActive, code: 5, product: "yearly"),
    Effect(
      name: "DID_RENEW", transactions: [period(0...30), period(30...60)], day: 40,
      reason: .subscriptionActive,
      code: 5),
    Effect(
      name: "DID_RENEW BILLING_RECOVERY", transactions: [period(0...30), period(50...80)],
      renewals: [renewal(signed: 50) { $0.autoRenewStatus = .on }], day: 60, reason: .subscriptionActive,
      code: 5
    ),
    Effect(
      name: "DID_CHANGE_RENEWAL_PREF UPGRADE, inside the entitlement",
      transactions: [period(0...30), period(5...370, "yearly")], reason: .subscriptionActive, code: 5,
      product: "yearly"),
    Effect(
      name: "DID_CHANGE_RENEWAL_PREF DOWNGRADE",
      renewals: [renewal(signed: 5) { $0.autoRenewProductID = "basic" }], reason: .subscriptionActive,
      code: 5,
      renewsTo: "basic"),
    Effect(
      name: "DID_CHANGE_RENEWAL_PREF, cancelled",
      renewals: [
        renewal(signed: 5) { $0.autoRenewProductID = "basic" },
        renewal(signed: 6) { $0.autoRenewProductID = "monthly" },
      ], reason: .subscriptionActive, code: 5, renewsTo: "monthly"),
    Effect(
      name: "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
      renewals: [renewal(signed: 5) { $0.autoRenewStatus = .off }], reason: .subscriptionNotRenewing, code: 4),
    Effect(
      name: "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
      renewals: [
        renewal(signed: 5) { $0.autoRenewStatus = .off }, renewal(signed: 6) { $0.autoRenewStatus = .on },
      ], reason: .subscriptionActive, code: 5),
    Effect(
      name: "OFFER_REDEEMED", transactions: [period(0...30).with { $0.offerType = .offerCode }],
      reason: .subscriptionActive, code: 5.3),
    Effect(
      name: "DID_FAIL_TO_RENEW GRACE_PERIOD",
      renewals: [
        renewal(signed: 30) {
          $0.isInBillingRetry = true
          $0.gracePeriodExpiresDate = at(46)
        }
      ], day: 40, reason: .inGracePeriod, code: 1),
    Effect(
      name: "PRICE_INCREASE PENDING", renewals: [renewal(signed: 5) { $0.priceIncreaseStatus = .pending }],
      reason: .subscriptionActive, code: 5),
    Effect(
      name: "REFUND of an old period",
      transactions: [period(0...30).with { $0.revocationDate = at(40) }, period(30...60)], day: 45,
      reason: .subscriptionActive, code: 5),
    Effect(
      name: "REFUND SEATS",
      transactions: [
        period(0...30).with {
          $0.quantity = 4
          $0.revokedSeatQuantity = 1
        }
      ], reason: .subscriptionActive, code: 5),
    Effect(
      name: "REFUND_REVERSED",
      transactions: [
        period(0...30).with {
          $0.revocationDate = at(5)
          $0.signedDate = at(5)
        }, period(0...30).with { $0.signedDate = at(6) },
      ], reason: .subscriptionActive, code: 5),
    Effect(
      name: "RENEWAL_EXTENDED",
      transactions: [period(0...30), period(0...45, id: "L1-0").with { $0.signedDate = at(9) }],
      day: 44, reason: .subscriptionActive, code: 5),
    Effect(
      name: "ONE_TIME_CHARGE", transactions: [purchase("lifetime", .nonConsumable, on: 0)],
      reason: .nonConsumableOwned, code: 3, product: "lifetime"),
  ]

  private static let afterwards = [
    Effect(
      name: "DID_CHANGE_RENEWAL_PREF UPGRADE, out of the entitlement",
      transactions: [period(0...30), period(5...35, "plus")], reason: .upgraded, code: -6),
    Effect(
      name: "DID_FAIL_TO_RENEW", renewals: [renewal(signed: 30) { $0.isInBillingRetry = true }], day: 40,
      reason: .billingRetry, code: -1),
    Effect(
      name: "GRACE_PERIOD_EXPIRED",
      renewals: [
        renewal(signed: 46) {
          $0.isInBillingRetry = true
          $0.gracePeriodExpiresDate = at(46)
        }
      ], day: 50, reason: .billingRetry, code: -1),
    Effect(
      name: "EXPIRED VOLUNTARY", renewals: [renewal(signed: 30) { $0.expirationIntent = .customerCancelled }],
      day: 40, reason: .cancelled, code: -5),
    Effect(
      name: "EXPIRED VOLUNTARY, of a free trial",
      transactions: [
        period(0...7).with {
          $0.offerType = .introductory
          $0.offerDiscountType = .freeTrial
        }
      ], renewals: [renewal(signed: 7) { $0.expirationIntent = .customerCancelled }], reason: .cancelled,
      code: -5.1),
    Effect(
      name: "EXPIRED BILLING_RETRY", renewals: [renewal(signed: 90) { $0.expirationIntent = .billingError }],
      day: 95, reason: .billingLapsed, code: -2),
    Effect(
      name: "EXPIRED PRICE_INCREASE",
      renewals: [renewal(signed: 30) { $0.expirationIntent = .priceIncreaseNotAccepted }], day: 40,
      reason: .priceIncreaseNotAccepted, code: -3),
    Effect(
      name: "EXPIRED PRODUCT_NOT_FOR_SALE",
      renewals: [renewal(signed: 30) { $0.expirationIntent = .productUnavailable }], day: 40,
      reason: .productUnavailable, code: -4),
    Effect(
      name: "EXPIRED", renewals: [renewal(signed: 30) { $0.expirationIntent = .other }], day: 40,
      reason: .expired, code: -5),
    Effect(
      name: "REFUND for an issue with the app",
      transactions: [
        period(0...30).with {
          $0.revocationDate = at(5)
          $0.revocationReason = .appIssue
        }
      ], reason: .refundedForAppIssue, code: -7),
    Effect(
      name: "REFUND, prorated",
      transactions: [
        period(0...30).with {
          $0.revocationDate = at(5)
          $0.revocationType = .refundProrated
          $0.revocationReason = .other
          $0.details.revocationPercentage = 80_000
        }
      ], reason: .refunded, code: -8),
    Effect(
      name: "REVOKE",
      transactions: [
        period(0...30).with {
          $0.ownership = .familyShared
          $0.revocationDate = at(5)
          $0.revocationType = .familyRevoke
        }
      ], reason: .familySharingEnded, code: -8),
    Effect(
      name: "ONE_TIME_CHARGE of a consumable", transactions: [purchase("shells", .consumable, on: 0)],
      reason: .neverPurchased, code: 0, product: nil),
  ]
}
