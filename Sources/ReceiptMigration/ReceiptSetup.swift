/// What the receipts of the apps need; apps by the operator's names for them.
package struct ReceiptSetup: Sendable {
  /// How receipts are treated; an app that is not there has the usual policy.
  package var policies: [String: ReceiptPolicy] = [:]
  /// Those of the apps whose receipts `verifyReceipt` is asked about.
  package var endpoints: [String: VerifyReceiptEndpoint] = [:]

  /// Nothing special.
  package init() {}
}
