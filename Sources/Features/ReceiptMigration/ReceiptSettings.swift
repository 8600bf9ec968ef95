/// What the receipts of the apps need; apps by the operator's names for them.
package struct ReceiptSettings: Sendable {
  /// How receipts are treated; an app that is not there has the usual policy.
  package var policies: [String: ReceiptPolicy] = [:]
  /// Those of the apps whose receipts `verifyReceipt` is asked about.
  package var endpoints: [String: VerifyReceiptSettings] = [:]

  /// From where jobs read their inputs.
  package var folder: ImportFolder

  /// Nothing special, but for the folder from where jobs read.
  package init(folder: ImportFolder = ImportFolder(path: "./data/import")) { self.folder = folder }
}
