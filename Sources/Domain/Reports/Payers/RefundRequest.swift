package import AppStore

/// A request in which Apple asked for consumption data, because a customer wants a refund.
package struct RefundRequest: Hashable, Sendable {
  /// The `originalTransactionId` of the purchase.
  package let line: String
  /// The `transactionId` for which the refund was requested.
  package let transactionID: String
  /// Apple's `consumptionRequestReason`; empty if the request has none.
  package let reason: String
  /// When Apple sent the request, by its document.
  package let askedAt: Instant
  /// When Apple accepted the answer; `nil` without one.
  package let answeredAt: Instant?
  /// When Apple declined refunds of the transaction, in any order.
  package let declines: [Instant]

  package init(
    line: String, transactionID: String, reason: String, askedAt: Instant, answeredAt: Instant?,
    declines: [Instant]
  ) {
    self.line = line
    self.transactionID = transactionID
    self.reason = reason
    self.askedAt = askedAt
    self.answeredAt = answeredAt
    self.declines = declines
  }
}
