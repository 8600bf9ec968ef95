package import AppStore

/// The fields of a transaction that do not decide access: price, offer, account and seats.
package struct TransactionDetails: Hashable, Sendable {
  /// The total price in milliunits of the currency.
  package var price: Int64?
  /// ISO 4217.
  package var currency: String?
  /// The identifier of the offer, from App Store Connect.
  package var offerIdentifier: String?
  /// Apple's `webOrderLineItemId`: one period of a subscription, equal on all devices.
  package var webOrderLineItemID: String?
  /// The UUID that the app set at the purchase to identify the customer.
  package var appAccountToken: String?
  /// Apple's `appTransactionId`, one per Apple account and app.
  package var appTransactionID: String?
  /// The country of the storefront, ISO 3166-1 alpha-3.
  package var storefront: String?
  /// Whether the customer purchased it or Apple renewed it.
  package var transactionReason: TransactionReason?
  /// Why several transactions cover one period.
  package var additionalTransactionReason: String?
  /// The refunded share of the price in thousandths of a percent, 0 to 100,000.
  package var revocationPercentage: Int64?
  /// The `originalTransactionId` before a migration to Advanced Commerce.
  package var previousOriginalTransactionID: String?
  /// The billing plan of a subscription with a commitment.
  package var billingPlanType: BillingPlanType?
  /// The commitment that a monthly payment is part of.
  package var commitment: Commitment?
  /// Whether Apple or the developer invites to the seats; `nil` without seats.
  package var invitationManagement: InvitationManagement?
  /// Whether the fact is from an app receipt, which has fewer fields; a signed transaction replaces it.
  package var isFromReceipt = false

  /// Creates details without any field set.
  package init() {}

  /// A 12-month commitment with monthly payments (API 1.21).
  package struct Commitment: Hashable, Sendable {
    /// The number of this payment, from 1.
    package var billingPeriodNumber: Int64
    /// The number of payments.
    package var totalBillingPeriods: Int64
    /// The end of the commitment.
    package var expiresDate: Instant?
    /// The price of all payments together in milliunits of the currency.
    package var price: Int64?

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
  /// Distinct for distinct details: orders two documents that agree in everything else.
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
