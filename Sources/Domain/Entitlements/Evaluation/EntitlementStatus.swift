package import AppStore

/// The answer to "is this customer entitled to this now?", with its reason.
package struct EntitlementStatus: Hashable, Sendable {
  /// The reason; it determines ``state`` and ``isEntitled``.
  package let reason: EntitlementReason
  /// The granted access level; `none` exactly if ``isEntitled`` is false.
  package let accessLevel: AccessLevel
  /// The payment mode of the deciding period.
  package let substate: EntitlementSubstate
  /// The product state to present for the products that grant the entitlement.
  package let productState: ProductState
  /// The start of the unbroken access that ends at ``until``; `nil` if not entitled.
  package let since: Instant?
  /// If entitled: the end of the unbroken access at this level or higher, across products; `nil`: no end. If
  /// not entitled: when the deciding purchase stopped granting access; `nil` if there is none.
  package let until: Instant?
  /// The end of the unbroken time that was paid for, which ``until`` exceeds by a grace period and by the time
  /// for which the renewal may be late; `nil` without a purchase or an end.
  package let paidUntil: Instant?
  /// The end of the unbroken access if no renewal is late or fails: without the time for which a renewal may be late, and
  /// without a grace period of the deciding subscription that has not begun; `nil` if it is ``until``.
  package let endWithoutDelay: Instant?
  /// The earliest instant at which the access may change without new evidence; `nil` if it cannot.
  package let checkAgainAt: Instant?
  /// The deadline of the ``advice(in:)``; `nil` if there is none.
  package let actBy: Instant?
  /// The purchase or period that decided; `nil` if none did.
  package let deciding: DecidingTransaction?
  /// The grant that decided; `nil` if none did.
  package let grant: DecidingGrant?
  /// The renewal of the deciding subscription; `nil` for anything else or without renewal info.
  package let outlook: RenewalOutlook?

  /// The id of the grant that decided; `nil` if none did.
  package var grantID: String? { grant?.grantID }

  /// The product that decided, by the id of its store; empty for a grant of the operator, `nil` if nothing did.
  package var productID: String? { deciding?.productID ?? grant?.productID }

  /// The state of ``reason``.
  package var state: EntitlementState { reason.state }

  /// Whether the customer has access.
  package var isEntitled: Bool { state.rawValue > 0 }

  /// Whether the deciding subscription renews at the end of its period or commitment; `nil` for anything else or
  /// without renewal info.
  package var willRenew: Bool? { outlook?.willRenew }

  /// The reason as an English sentence for people, without data of the customer.
  package var sentence: String {
    if reason == .familySharingEnded, deciding?.ownership == .assigned {
      return "The customer no longer has a seat of the purchase."
    }
    guard reason == .subscriptionNotRenewing, let commitment = deciding?.commitment, !commitment.isLastPayment
    else { return reason.sentence }
    return
      "The subscription is active; its payments continue until the commitment ends, and then it does not renew."
  }

  /// Whether the payments that are left of the deciding commitment are still due: the subscription is active, or Apple
  /// retries a payment. A refund or an upgrade of the current period ends them.
  package var owesPayments: Bool { deciding?.commitment != nil && (isEntitled || reason == .billingRetry) }

  /// The App Store page where the customer manages the deciding subscription; `nil` unless it is active and the
  /// customer pays for it.
  package var manageURL: String? {
    guard deciding?.isShared == false else { return nil }
    switch reason {
    case .subscriptionActive, .subscriptionNotRenewing, .awaitingRenewal, .inGracePeriod,
      .inOperatorGracePeriod:
      return Advice.manageURL
    default: return nil
    }
  }

  /// State and substate as one number, such as 5.1 or -5.3 (WWDC20-10671).
  package var code: Double {
    let tenths = abs(state.rawValue) * 10 + (state == .noPurchase ? 0 : substate.rawValue)
    return Double(state.rawValue < 0 ? -tenths : tenths) / 10
  }

  /// Creates an answer without a deciding fact.
  init(_ reason: EntitlementReason, checkAgainAt: Instant? = nil) {
    self.init(
      reason, accessLevel: .none, substate: .standard, productState: .new, since: nil, until: nil,
      paidUntil: nil, checkAgainAt: checkAgainAt, actBy: nil, deciding: nil, grant: nil, outlook: nil)
  }

  /// Recreates a stored answer.
  package init(
    _ reason: EntitlementReason, accessLevel: AccessLevel, substate: EntitlementSubstate,
    productState: ProductState, since: Instant?, until: Instant?, paidUntil: Instant?,
    endWithoutDelay: Instant? = nil, checkAgainAt: Instant?, actBy: Instant?, deciding: DecidingTransaction?,
    grant: DecidingGrant?, outlook: RenewalOutlook?
  ) {
    self.reason = reason
    self.accessLevel = accessLevel
    self.substate = substate
    self.productState = productState
    self.since = since
    self.until = until
    self.paidUntil = paidUntil
    self.endWithoutDelay = endWithoutDelay
    self.checkAgainAt = checkAgainAt
    self.actBy = actBy
    self.deciding = deciding
    self.grant = grant
    self.outlook = outlook
  }
}

/// The purchase or period that an answer is based on.
package struct DecidingTransaction: Hashable, Sendable {
  /// Apple's `transactionId`.
  package let transactionID: String
  /// Apple's `originalTransactionId`; the seat id for a seat.
  package let originalTransactionID: String
  /// The product that grants the entitlement, or granted it.
  package let productID: String
  /// The type that Apple sold it as; the catalog's type if this version does not know Apple's. `nil` in an event from before
  /// events had it.
  package let type: ProductType?
  /// The way in which the customer got it; only the purchaser can act on billing.
  package let ownership: InAppOwnershipType
  /// The billing plan of the period; `nil` if Apple sent none.
  package let billingPlanType: BillingPlanType?
  /// The commitment that the period is part of; `nil` for none.
  package let commitment: TransactionDetails.Commitment?
  /// The price of the period, in milliunits of ``currency``; `nil` without a commitment, or if Apple did not
  /// report it.
  package let payment: Int64?
  /// The ISO 4217 code; `nil` without a commitment, or if Apple did not report it.
  package let currency: String?

  /// Whether another customer pays for it.
  package var isShared: Bool { ownership.isShared }

  /// Recreates the transaction of a stored answer.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, type: ProductType?,
    ownership: InAppOwnershipType, billingPlanType: BillingPlanType? = nil,
    commitment: TransactionDetails.Commitment? = nil,
    payment: Int64? = nil, currency: String? = nil
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.type = type
    self.ownership = ownership
    self.billingPlanType = billingPlanType
    self.commitment = commitment
    self.payment = payment
    self.currency = currency
  }

  init(_ facts: borrowing CustomerFacts, _ index: Int) {
    transactionID = facts.transactions[index].transactionID
    originalTransactionID = facts.transactions[index].originalTransactionID
    productID = facts.transactions[index].productID
    type = facts.transactions[index].type
    ownership = facts.transactions[index].ownership
    billingPlanType = facts.transactions[index].details.billingPlanType
    commitment = facts.transactions[index].details.commitment
    payment = commitment == nil ? nil : facts.transactions[index].details.price
    currency = commitment == nil ? nil : facts.transactions[index].details.currency
  }
}

/// The grant that an answer is based on.
package struct DecidingGrant: Hashable, Sendable {
  /// ``GrantFact/grantID``.
  package let grantID: String
  /// The other store; empty for a grant of the operator.
  package let source: String
  /// The other store's id of the purchase, and of its product; empty for a grant of the operator.
  package let externalID: String
  package let productID: String
  /// As ``GrantFact/revision``.
  package let revision: Int64

  /// Recreates the grant of a stored answer.
  package init(
    grantID: String, source: String = "", externalID: String = "", productID: String = "", revision: Int64 = 0
  ) {
    self.grantID = grantID
    self.source = source
    self.externalID = externalID
    self.productID = productID
    self.revision = revision
  }

  init(_ fact: GrantFact) {
    self.init(
      grantID: fact.grantID, source: fact.external?.source ?? "",
      externalID: fact.external?.externalID ?? "", productID: fact.external?.productID ?? "",
      revision: fact.revision)
  }
}

extension EntitlementStatus {
  /// The source of Apple's evidence in ``source``.
  package static let appStoreSource = "app_store"
  /// The source of the operator's own grants in ``source``.
  package static let operatorSource = "operator"

  /// The origin of the answer: ``appStoreSource``, ``operatorSource`` or the name of another store; empty if nothing
  /// was purchased or granted.
  package var source: String {
    if let grant { return grant.source.isEmpty ? Self.operatorSource : grant.source }
    return deciding != nil || productState != .new || isEntitled ? Self.appStoreSource : ""
  }
}

/// The key of the fact that an answer is based on.
package enum DecidingFact: Hashable, Sendable {
  /// A transaction by its `transactionId`, of a purchase or a seat.
  case transaction(String, ofLine: String)
  /// A grant by its id, and by the ``GrantFact/revision`` of one of its states.
  case grant(String, revision: Int64 = 0)
}

extension EntitlementStatus {
  /// The transaction or grant that decided; `nil` if there is none: nothing was purchased, or an app install
  /// grants it.
  package var decidingFact: DecidingFact? {
    if let deciding { return .transaction(deciding.transactionID, ofLine: deciding.originalTransactionID) }
    return grant.map { .grant($0.grantID, revision: $0.revision) }
  }
}

/// The state of an entitlement, in the codes of WWDC20-10671: positive means entitled. The raw values are
/// returned by the API: never change one.
package enum EntitlementState: Int, Hashable, Sendable, CaseIterable {
  /// An active subscription that will renew, or whose renewal info has not arrived.
  case activeRenewing = 5
  /// An active subscription with auto-renew off.
  case activeNotRenewing = 4
  /// A non-renewing subscription, a non-consumable or a legacy version rule.
  case nonRenewing = 3
  /// A grant of the operator, or a purchase in another store.
  case offPlatform = 2
  /// The renewal payment failed and a grace period is active.
  case gracePeriod = 1
  /// No purchase that could grant the entitlement.
  case noPurchase = 0
  /// The renewal payment failed and Apple is retrying it.
  case billingRetry = -1
  /// The renewal payment failed and Apple stopped retrying.
  case lapsedForBilling = -2
  /// Ended because the customer did not consent to a price increase.
  case priceIncreaseNotAccepted = -3
  /// Ended because the product could not be bought at the renewal.
  case productUnavailable = -4
  /// Ended by the customer's choice, or for a reason that has no code.
  case cancelled = -5
  /// Replaced by a product that does not grant this entitlement, or whose purchase has not arrived.
  case upgraded = -6
  /// Refunded because of an issue with the app.
  case refundedForAppIssue = -7
  /// Refunded or no longer shared, for any other reason.
  case refundedForOtherReason = -8
}

/// The payment mode of the deciding period: the decimal of the codes of WWDC20-10671. The raw values are
/// stored.
package enum EntitlementSubstate: Int, Hashable, Sendable, CaseIterable {
  /// The regular price, or a purchase without a payment mode.
  case standard = 0
  /// An introductory offer that costs nothing.
  case freeTrial = 1
  /// An introductory offer that is paid: pay as you go, or pay up front.
  case introductoryOffer = 2
  /// A promotional offer, an offer code or a win-back offer.
  case subscriptionOffer = 3
}

/// The state of a product for a customer, which decides what the app shows (WWDC22-110404). Precomputed
/// answers store the position of the case: append only.
package enum ProductState: String, Hashable, Sendable, CaseIterable {
  /// Never purchased: show the offers for new customers.
  case new = "NEW"
  /// Entitled: unlock, show no purchase button.
  case active = "ACTIVE"
  /// Purchased before: show a win-back offer, or ask for a payment method during billing retry.
  case inactive = "INACTIVE"
}
