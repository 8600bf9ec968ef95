/// Where a customer stands with an entitlement, in the codes of WWDC20-10671: above 0 is entitled.
package enum EntitlementState: Int, Hashable, Sendable, CaseIterable {
  /// A subscription that will renew, or of which Apple has not said otherwise.
  case activeRenewing = 5
  /// A subscription whose customer turned renewal off; the paid period still runs.
  case activeNotRenewing = 4
  /// A non-renewing subscription that runs, or a non-consumable.
  case nonRenewing = 3
  /// Given by the operator, without a purchase.
  case offPlatform = 2
  /// The paid period is over and Apple could not charge, but the grace period runs.
  case gracePeriod = 1
  /// No purchase is known.
  case noPurchase = 0
  /// Apple could not charge and goes on trying.
  case billingRetry = -1
  /// Apple could not charge and gave up.
  case lapsedForBilling = -2
  case priceIncreaseNotAccepted = -3
  case productUnavailable = -4
  /// Ended by the customer's choice, or for no reason that has a code of its own.
  case cancelled = -5
  /// Another product took over that does not give this entitlement.
  case upgraded = -6
  case refundedForAppIssue = -7
  case refundedForOtherReason = -8
}

/// How the deciding period was paid for: the decimal of the codes of WWDC20-10671.
package enum EntitlementSubstate: Int, Hashable, Sendable, CaseIterable {
  case standard = 0
  case freeTrial = 1
  case introductoryOffer = 2
  /// A promotional offer, an offer code or a win-back offer.
  case subscriptionOffer = 3
}

/// The three states of a product for a customer (WWDC22-110404); they decide what to show.
package enum ProductState: String, Hashable, Sendable, CaseIterable {
  /// Never bought: show the offers for new customers.
  case new = "NEW"
  /// Entitled now: unlock, show no purchase button.
  case active = "ACTIVE"
  /// Had it once: win back, or ask for a payment method if in billing retry.
  case inactive = "INACTIVE"
}
