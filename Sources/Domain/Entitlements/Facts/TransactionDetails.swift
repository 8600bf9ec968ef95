package import AppStore

/// What a signed transaction says besides what decides about access: money, offers, whose it is.
package struct TransactionDetails: Hashable, Sendable {
  /// What was paid for all of it, in thousandths of the currency.
  package var price: Int64?
  /// ISO 4217.
  package var currency: String?
  /// The offer it was bought with, by the operator's or Apple's name.
  package var offerIdentifier: String?
  /// Apple's number of one period of a subscription.
  package var webOrderLineItemID: String?
  /// The UUID that the app gave the purchase to say whose it is.
  package var appAccountToken: String?
  /// Apple's number for one Apple account and one app.
  package var appTransactionID: String?
  /// The storefront's country, ISO 3166-1 alpha-3.
  package var storefront: String?
  /// The customer bought it, or Apple renewed it.
  package var transactionReason: TransactionReason?
  /// Why several transactions stand for one period.
  package var additionalTransactionReason: String?
  /// How much of the price was given back, in Apple's unit: thousandths of a percent.
  package var revocationPercentage: Int64?
  /// The line before a migration to Advanced Commerce.
  package var previousOriginalTransactionID: String?
  /// How a subscription with a commitment is billed.
  package var billingPlanType: BillingPlanType?
  /// The commitment that a monthly payment is part of.
  package var commitment: Commitment?
  /// Who invites to the seats; `nil` for what has none.
  package var invitationManagement: InvitationManagement?
  /// An app receipt said so, and not a signed transaction: older and less, so that it counts only until
  /// Apple's own word about the transaction is known.
  package var isFromReceipt = false

  /// Nothing; the parts that are there are set.
  package init() {}

  /// A year that is paid month by month.
  package struct Commitment: Hashable, Sendable {
    /// Which of the payments this is, from 1.
    package var billingPeriodNumber: Int64
    /// How many payments there are.
    package var totalBillingPeriods: Int64
    /// When the customer has fulfilled it.
    package var expiresDate: Instant?
    /// Of all payments together, in thousandths of the currency.
    package var price: Int64?

    /// A commitment by its parts.
    package init(
      billingPeriodNumber: Int64, totalBillingPeriods: Int64, expiresDate: Instant? = nil,
      price: Int64? = nil
    ) {
      self.billingPeriodNumber = billingPeriodNumber
      self.totalBillingPeriods = totalBillingPeriods
      self.expiresDate = expiresDate
      self.price = price
    }
  }
}

extension TransactionDetails {
  /// Different for different details: what decides between two documents that agree in all else.
  var orderingKey: [String] {
    let texts = [
      currency, offerIdentifier, webOrderLineItemID, appAccountToken, appTransactionID, storefront,
      transactionReason?.rawValue, additionalTransactionReason, previousOriginalTransactionID,
      billingPlanType?.rawValue, invitationManagement?.rawValue,
    ]
    let numbers = [
      price, revocationPercentage, commitment?.billingPeriodNumber, commitment?.totalBillingPeriods,
      commitment?.expiresDate?.millisecondsSince1970, commitment?.price,
    ]
    return texts.map { $0.map { "+\($0)" } ?? "-" } + numbers.map { $0.map { "+\($0)" } ?? "-" }
  }
}
