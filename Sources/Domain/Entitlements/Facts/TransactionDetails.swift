package import AppStore

/// The fields of a transaction that do not decide access: price, offer, account and seats.
package struct TransactionDetails: Hashable, Sendable {
  /// Apple's `price` in milliunits of the currency: that of the transaction; of one seat on average if it has seats
  /// (Apple, TransactionMultiSeatInfo). See ``TransactionFact/totalPrice``.
  package var price: Int64?
  /// ISO 4217.
  package var currency: String?
  /// The identifier of the offer, from App Store Connect.
  package var offerIdentifier: String?
  /// The time that an offer is paid for up front, such as `P6M`; `nil` for other offers.
  package var offerPeriod: String?
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
  /// The reason of several transactions for one period.
  package var additionalTransactionReason: String?
  /// Whether an earlier document about the transaction had no ``additionalTransactionReason``, although this one has.
  package var wasWithoutAdditions = false
  /// The refunded share of the price in thousandths of a percent, 0 to 100,000.
  package var revocationPercentage: Int64?
  /// The `originalTransactionId` before a migration to Advanced Commerce.
  package var previousOriginalTransactionID: String?
  /// Whether it is a purchase of the Advanced Commerce API.
  package var isAdvancedCommerce = false
  /// The billing plan of a subscription with a commitment.
  package var billingPlanType: BillingPlanType?
  /// The commitment that a monthly payment is part of.
  package var commitment: Commitment?
  /// Whether Apple or the developer invites to the seats; `nil` without seats.
  package var invitationManagement: InvitationManagement?
  /// The price of all seats together in milliunits of the currency, from Apple's `priceTiers`; `nil` without them.
  package var seatsPrice: Int64?
  /// The refunds of seats that any document about the transaction reported, by the number of refunded seats.
  package var seatRefunds: [SeatRefund] = []
  /// The refunds that any document about the transaction reported, by their dates: a later reversal leaves no trace in the
  /// latest document.
  package var refunds: [Refund] = []
  /// When Apple signed notifications that a refund was reversed (`REFUND_REVERSED`), in ascending order.
  package var reversals: [Instant] = []
  /// The earliest `expiresDate` of the signed documents about the transaction, if an extension moved it since; the customer
  /// did not pay for the time after it.
  package var firstExpiresDate: Instant?
  /// The earliest `signedDate` of the documents that say the transaction was upgraded, if it is not that of the present one.
  package var upgradeReportedAt: Instant?
  /// Whether the fact is from an app receipt, which has fewer fields; a signed transaction replaces it.
  package var isFromReceipt = false
  /// Of a seat that this service assigns: the times before ``TransactionFact/purchaseDate`` in which it had access in this
  /// period, in order. After each of them the claim had to wait for another seat.
  package var earlierSeatTimes: [Range<Instant>] = []
  /// What the newest receipt states of a signed transaction, if it is newer than the signature.
  package var receiptStatement: ReceiptStatement?

  /// Creates details without any field set.
  package init() {}

  /// A refund of the transaction.
  package struct Refund: Hashable, Sendable {
    /// Apple's `revocationDate`.
    package var date: Instant
    /// As ``TransactionDetails/revocationPercentage``, from 0 to 100 %.
    package let percentage: Int64?
    /// Whether Apple's `revocationReason` was an issue with the app.
    package var isAppIssue: Bool

    private static let percentages: ClosedRange<Int64> = 0...100_000

    /// Creates a refund. A percentage beyond its range, which no document of Apple's has, is the nearest one.
    package init(date: Instant, percentage: Int64?, isAppIssue: Bool = false) {
      self.date = date
      self.percentage = percentage.map {
        min(max($0, Self.percentages.lowerBound), Self.percentages.upperBound)
      }
      self.isAppIssue = isAppIssue
    }
  }

  /// Whether any document about the transaction reported a refund or a reversal.
  var hasRefunds: Bool { !refunds.isEmpty || !reversals.isEmpty }

  /// Takes over the refunds and reversals that either of two documents reported.
  mutating func mergeRefunds(of first: TransactionDetails, _ second: TransactionDetails) {
    // Of two percentages for one date the smaller one, so that the order of the documents does not matter.
    let known = Dictionary((first.refunds + second.refunds).map { ($0.date, $0) }) {
      var refund = $0.percentage ?? .max <= $1.percentage ?? .max ? $0 : $1
      refund.isAppIssue = $0.isAppIssue || $1.isAppIssue
      return refund
    }
    refunds = known.values.sorted { $0.date < $1.date }
    reversals = Set(first.reversals + second.reversals).sorted()
  }

  /// A number of refunded seats and when Apple first reported it, because a refund of some seats has no date.
  package struct SeatRefund: Hashable, Sendable {
    /// The seats of the transaction that were refunded in all.
    package var quantity: Int64
    /// The earliest `signedDate` of a document with this number.
    package var reportedAt: Instant

    package init(quantity: Int64, reportedAt: Instant) {
      self.quantity = quantity
      self.reportedAt = reportedAt
    }

    /// The reports of two sets of documents, in ascending order.
    static func merged(_ left: [SeatRefund], _ right: [SeatRefund]) -> [SeatRefund] {
      let first = Dictionary((left + right).map { ($0.quantity, $0.reportedAt) }, uniquingKeysWith: min)
      return first.sorted { $0.key < $1.key }.map { SeatRefund(quantity: $0.key, reportedAt: $0.value) }
    }
  }

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

extension TransactionDetails.Commitment {
  /// Whether this is the last payment of the commitment.
  package var isLastPayment: Bool { totalBillingPeriods > 0 && billingPeriodNumber >= totalBillingPeriods }

  /// Whether this is one of the last two payments. Before them, a cancelled commitment is not at risk: its payments
  /// continue.
  package var isEnding: Bool { totalBillingPeriods > 0 && billingPeriodNumber >= totalBillingPeriods - 1 }

  /// The number of payments after this one; 0 for numbers that contradict each other.
  package var remainingPeriods: Int64 {
    let (left, isTooLarge) = totalBillingPeriods.subtractingReportingOverflow(billingPeriodNumber)
    return isTooLarge ? 0 : max(0, left)
  }

  /// Returns the cost of the payments after this one at `price`, that of this one, in its milliunits: a forecast.
  /// `nil` without a price.
  package func remainingPrice(at price: Int64?) -> Int64? {
    guard let (forecast, isTooLarge) = price?.multipliedReportingOverflow(by: remainingPeriods) else {
      return nil
    }
    return isTooLarge ? nil : forecast
  }

  /// Until when a customer who cancelled can change the decision; `nil` before the last two payments.
  var retentionDeadline: Instant? { isEnding ? expiresDate : nil }
}

extension TransactionDetails {
  /// Distinct for distinct details: orders two documents that agree in everything else.
  var orderingKey: [String] {
    let texts = [
      currency, offerIdentifier, webOrderLineItemID, appAccountToken, appTransactionID, storefront,
      transactionReason?.rawValue, additionalTransactionReason, previousOriginalTransactionID,
      billingPlanType?.rawValue, invitationManagement?.rawValue, offerPeriod,
    ]
    let numbers = [
      price, revocationPercentage, commitment?.billingPeriodNumber, commitment?.totalBillingPeriods,
      commitment?.expiresDate?.millisecondsSince1970, commitment?.price, seatsPrice,
      isAdvancedCommerce ? 1 : nil,
    ]
    return texts.map { $0.map { "+\($0)" } ?? "-" } + numbers.map { $0.map { "+\($0)" } ?? "-" }
  }
}
