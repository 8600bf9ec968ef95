/// How an operator wants the receipts of one app treated.
package struct ReceiptPolicy: Hashable, Sendable {
  /// Who decides whether a receipt is genuine.
  package enum Verification: String, Hashable, Sendable, CaseIterable {
    /// Its signature, here.
    case local
    /// Apple's `verifyReceipt`.
    case endpoint
    /// Both, which must agree.
    case both
  }

  /// Who decides whether a receipt is genuine.
  package var verification: Verification
  /// Whether receipts are kept as evidence. What they say is kept anyway.
  package var keepsReceipts: Bool
  /// Whether a receipt from before iOS 7, which nobody can verify, may be looked up at Apple by the number in
  /// it. Nothing is linked to a customer by that.
  package var looksUpUnverified: Bool

  /// A policy; what is not said is as for most apps.
  package init(
    verification: Verification = .local, keepsReceipts: Bool = false, looksUpUnverified: Bool = false
  ) {
    self.verification = verification
    self.keepsReceipts = keepsReceipts
    self.looksUpUnverified = looksUpUnverified
  }
}
