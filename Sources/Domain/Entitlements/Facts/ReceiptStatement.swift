package import AppStore

extension TransactionDetails {
  /// What a receipt states of a transaction of which a signed document is stored.
  ///
  /// Receipts have fewer fields, so the signed document counts. But it is as of its signature: without access to the App
  /// Store Server API, a cancellation after that is known only from the `cancellation_date` of a receipt. It counts unless
  /// a later signed document or a later receipt has none.
  package struct ReceiptStatement: Hashable, Sendable {
    /// When Apple made the receipt.
    package let statedAt: Instant
    /// The entry's `cancellation_date`; `nil` if it has none.
    package let cancelledAt: Instant?
    /// Apple's `cancellation_reason`.
    package let reason: RevocationReason?
    /// Whether the revocation of the fact is this cancellation, because the signed document has none.
    package var isInForce = false

    package init(
      statedAt: Instant, cancelledAt: Instant?, reason: RevocationReason?, isInForce: Bool = false
    ) {
      self.statedAt = statedAt
      self.cancelledAt = cancelledAt
      self.reason = reason
      self.isInForce = isInForce
    }

    /// Whether `other` replaces it: the later one, and of the same time the one that is cancelled, as for receipts without a
    /// signed document (``TransactionFact/supersedes(_:)``).
    fileprivate func isSuperseded(by other: ReceiptStatement) -> Bool {
      (statedAt, order(cancelledAt), reason?.rawValue ?? .min)
        < (other.statedAt, order(other.cancelledAt), other.reason?.rawValue ?? .min)
    }
  }
}

extension TransactionFact {
  /// The revocation that the document itself states.
  var statedRevocation: (date: Instant?, reason: RevocationReason?) {
    inDetails { $0.receiptStatement?.isInForce == true } ? (nil, nil) : (revocationDate, revocationReason)
  }

  /// What the newest receipt states, without what follows from it.
  private var receiptStatement: TransactionDetails.ReceiptStatement? {
    let (isFromReceipt, statement) = inDetails { ($0.isFromReceipt, $0.receiptStatement) }
    guard isFromReceipt else {
      return statement.map { .init(statedAt: $0.statedAt, cancelledAt: $0.cancelledAt, reason: $0.reason) }
    }
    return .init(statedAt: signedDate, cancelledAt: revocationDate, reason: revocationReason)
  }

  /// Records what the newest receipt about either of two documents states, if it is newer than this signed one.
  mutating func recordReceipt(of first: TransactionFact, _ second: TransactionFact) {
    guard inDetails({ !$0.isFromReceipt }) else { return }
    let statements = [first, second].compactMap(\.receiptStatement).filter { $0.statedAt > signedDate }
    if inDetails({ $0.receiptStatement != nil }) { removeReceiptStatement() }
    guard var newest = statements.max(by: { $0.isSuperseded(by: $1) }) else { return }
    if let cancelledAt = newest.cancelledAt, revocationDate == nil {
      (revocationDate, revocationReason) = (cancelledAt, newest.reason)
      newest.isInForce = true
    }
    details.receiptStatement = newest
  }

  /// Removes what a receipt states.
  mutating func removeReceiptStatement() {
    (revocationDate, revocationReason) = statedRevocation
    details.receiptStatement = nil
  }

  /// Whether this document states the present of a transaction of which another one was `known`; `merged` is the fact of
  /// both.
  package func statesPresent(of merged: TransactionFact, before known: TransactionFact) -> Bool {
    guard let receipt = merged.inDetails({ $0.receiptStatement }), receipt.isInForce else {
      return supersedes(known)
    }
    return inDetails({ $0.isFromReceipt }) && signedDate == receipt.statedAt
      && revocationDate == receipt.cancelledAt
  }
}
