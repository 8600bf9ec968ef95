package import AppStore

/// The answer to "is this customer entitled to this, now?", with its reason.
package struct EntitlementStatus: Hashable, Sendable {
  /// Why; decides ``state`` and ``isEntitled``.
  package let reason: EntitlementReason
  /// How the deciding period was paid for.
  package let substate: EntitlementSubstate
  /// What the app should show of the products that give the entitlement.
  package let productState: ProductState
  /// Entitled: the end of the unbroken access, across products; `nil` for no end. Not entitled: when the
  /// deciding purchase stopped giving access; `nil` if there was none.
  package let until: Instant?
  /// The earliest moment at which the answer may become another one by itself, without news from
  /// Apple; `nil` if it never does.
  package let checkAgainAt: Instant?
  /// The purchase or period that decided; `nil` if there is none.
  package let deciding: DecidingTransaction?
  /// Whether the deciding subscription renews at the end of its period; `nil` if Apple has not said or
  /// it is no subscription.
  package let willRenew: Bool?

  /// Where the customer stands; see ``EntitlementReason/state``.
  package var state: EntitlementState { reason.state }

  /// Whether to let the customer in.
  package var isEntitled: Bool { state.rawValue > 0 }

  /// State and sub-state as one number, such as 5.1 or -5.3 (WWDC20-10671).
  package var code: Double {
    let tenths = abs(state.rawValue) * 10 + (state == .noPurchase ? 0 : substate.rawValue)
    return Double(state.rawValue < 0 ? -tenths : tenths) / 10
  }

  /// An answer that rests on no purchase.
  init(_ reason: EntitlementReason, checkAgainAt: Instant? = nil) {
    self.init(
      reason, substate: .standard, productState: .new, until: nil, checkAgainAt: checkAgainAt,
      deciding: nil, willRenew: nil)
  }

  /// An answer by its parts, for those who keep answers.
  package init(
    _ reason: EntitlementReason, substate: EntitlementSubstate, productState: ProductState,
    until: Instant?, checkAgainAt: Instant?, deciding: DecidingTransaction?, willRenew: Bool?
  ) {
    self.reason = reason
    self.substate = substate
    self.productState = productState
    self.until = until
    self.checkAgainAt = checkAgainAt
    self.deciding = deciding
    self.willRenew = willRenew
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
