package import AppStore

/// The answer to "is this customer entitled to this, now?", with its reason.
package struct EntitlementStatus: Hashable, Sendable {
  /// Why; decides ``state`` and ``isEntitled``.
  package let reason: EntitlementReason
  /// How much the customer has; nothing exactly if they are not entitled.
  package let accessLevel: AccessLevel
  /// How the deciding period was paid for.
  package let substate: EntitlementSubstate
  /// What the app should show of the products that give the entitlement.
  package let productState: ProductState
  /// The start of the unbroken access that ``until`` ends; `nil` if not entitled.
  package let since: Instant?
  /// Entitled: the end of the unbroken access at this level or a higher one, across products; `nil` for no
  /// end. Not entitled: when the deciding purchase stopped giving access; `nil` if there was none.
  package let until: Instant?
  /// The earliest moment at which the answer may become another one by itself, without news from
  /// Apple; `nil` if it never does.
  package let checkAgainAt: Instant?
  /// Until when it helps if the customer does what ``advice(in:)`` says; `nil` if nothing is pressing.
  package let actBy: Instant?
  /// The purchase or period that decided; `nil` if there is none.
  package let deciding: DecidingTransaction?
  /// The grant that decided; `nil` if none did.
  package let grantID: String?
  /// What becomes of the deciding subscription; `nil` if Apple has not said or it is no subscription.
  package let outlook: RenewalOutlook?

  /// Where the customer stands; see ``EntitlementReason/state``.
  package var state: EntitlementState { reason.state }

  /// Whether to let the customer in.
  package var isEntitled: Bool { state.rawValue > 0 }

  /// Whether the deciding subscription renews at the end of its period; `nil` if Apple has not said or
  /// it is no subscription.
  package var willRenew: Bool? { outlook?.willRenew }

  /// State and sub-state as one number, such as 5.1 or -5.3 (WWDC20-10671).
  package var code: Double {
    let tenths = abs(state.rawValue) * 10 + (state == .noPurchase ? 0 : substate.rawValue)
    return Double(state.rawValue < 0 ? -tenths : tenths) / 10
  }

  /// An answer that rests on nothing.
  init(_ reason: EntitlementReason, checkAgainAt: Instant? = nil) {
    self.init(
      reason, accessLevel: .none, substate: .standard, productState: .new, since: nil, until: nil,
      checkAgainAt: checkAgainAt, actBy: nil, deciding: nil, grantID: nil, outlook: nil)
  }

  /// An answer by its parts, for those who keep answers.
  package init(
    _ reason: EntitlementReason, accessLevel: AccessLevel, substate: EntitlementSubstate,
    productState: ProductState, since: Instant?, until: Instant?, checkAgainAt: Instant?, actBy: Instant?,
    deciding: DecidingTransaction?, grantID: String?, outlook: RenewalOutlook?
  ) {
    self.reason = reason
    self.accessLevel = accessLevel
    self.substate = substate
    self.productState = productState
    self.since = since
    self.until = until
    self.checkAgainAt = checkAgainAt
    self.actBy = actBy
    self.deciding = deciding
    self.grantID = grantID
    self.outlook = outlook
  }
}

/// The purchase or period that an answer rests on.
package struct DecidingTransaction: Hashable, Sendable {
  /// Apple's number of the purchase or period.
  package let transactionID: String
  /// Apple's number of the purchase line.
  package let originalTransactionID: String
  /// The product that gives the entitlement, or did.
  package let productID: String
  /// How the customer came to it; who did not buy it is not the one to ask about billing.
  package let ownership: InAppOwnershipType

  /// Whether somebody else pays for it.
  package var isShared: Bool { ownership.isShared }

  /// The purchase of a kept answer.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, ownership: InAppOwnershipType
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.ownership = ownership
  }

  init(_ facts: borrowing CustomerFacts, _ index: Int) {
    transactionID = facts.transactions[index].transactionID
    originalTransactionID = facts.transactions[index].originalTransactionID
    productID = facts.transactions[index].productID
    ownership = facts.transactions[index].ownership
  }
}

/// The one fact that an answer rests on, by its number.
package enum DecidingFact: Hashable, Sendable {
  /// A purchase or period, by Apple's number of it, of a purchase line or a seat.
  case transaction(String, ofLine: String)
  /// What the operator gave, by its number.
  case grant(String)
}

extension EntitlementStatus {
  /// The transaction or the grant that gives the entitlement, or that gave it last; `nil` where it is neither: nothing
  /// was bought, or a copy of the app gives it.
  package var decidingFact: DecidingFact? {
    if let deciding { return .transaction(deciding.transactionID, ofLine: deciding.originalTransactionID) }
    return grantID.map(DecidingFact.grant)
  }
}

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
