package import AppStore

/// The transaction that an event is about, as it was when the event was recorded.
package struct EventSubject: Hashable, Sendable {
  /// Apple's `transactionId`.
  package let transactionID: String
  /// Apple's `originalTransactionId`; the seat id for a seat.
  package let originalTransactionID: String
  /// The App Store product id.
  package let productID: String
  /// The product type at Apple; `nil` if the transaction is not stored.
  package let type: ProductType?
  /// The way in which the customer got it.
  package let ownership: InAppOwnershipType
  /// The purchased quantity; at least 1.
  package let quantity: Int64
  /// The refunded seats; `nil` if none are.
  package let revokedSeatQuantity: Int64?
  /// Apple's `price` in milliunits of ``currency``: of one seat if it has several; `nil` if Apple sent none.
  package let price: Int64?
  /// ISO 4217.
  package let currency: String?
  /// The billing plan of the period; `nil` if Apple sent none.
  package let billingPlanType: BillingPlanType?
  /// The commitment that the period is part of; `nil` for none.
  package let commitment: TransactionDetails.Commitment?
  /// The saved segment that the purchase entered or left; `nil` for other events.
  package var segment: String?

  /// Recreates a stored subject.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, type: ProductType?,
    ownership: InAppOwnershipType, quantity: Int64, revokedSeatQuantity: Int64? = nil, price: Int64?,
    currency: String?, billingPlanType: BillingPlanType? = nil,
    commitment: TransactionDetails.Commitment? = nil, segment: String? = nil
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.type = type
    self.ownership = ownership
    self.quantity = quantity
    self.revokedSeatQuantity = revokedSeatQuantity
    self.price = price
    self.currency = currency
    self.billingPlanType = billingPlanType
    self.commitment = commitment
    self.segment = segment
  }

  /// The transaction that states `fact`.
  package init(_ fact: TransactionFact) {
    self.init(
      transactionID: fact.transactionID, originalTransactionID: fact.originalTransactionID,
      productID: fact.productID, type: fact.type, ownership: fact.ownership, quantity: fact.quantity,
      revokedSeatQuantity: fact.revokedSeatQuantity, price: fact.details.price,
      currency: fact.details.currency,
      billingPlanType: fact.details.billingPlanType, commitment: fact.details.commitment)
  }

  /// The transaction of an answer whose fact is not known.
  init(_ deciding: DecidingTransaction) {
    self.init(
      transactionID: deciding.transactionID, originalTransactionID: deciding.originalTransactionID,
      productID: deciding.productID, type: nil, ownership: deciding.ownership, quantity: 1, price: nil,
      currency: nil, billingPlanType: deciding.billingPlanType, commitment: deciding.commitment)
  }
}
