/// The operator's settings for receipts of all apps, by app id.
package struct ReceiptSettings: Sendable {
  /// The policies; an app without an entry has the default policy.
  package var policies: [String: ReceiptPolicy] = [:]
  /// The `verifyReceipt` settings of the apps that use it.
  package var endpoints: [String: VerifyReceiptSettings] = [:]
  /// The folder from which migration jobs read.
  package var folder: ImportFolder

  /// Creates settings without policies and endpoints.
  package init(folder: ImportFolder = ImportFolder(path: "./data/import")) { self.folder = folder }
}

/// The operator's policy for the receipts of one app.
package struct ReceiptPolicy: Hashable, Sendable {
  /// The way in which receipts are verified.
  package enum Verification: String, Hashable, Sendable, CaseIterable {
    /// By signature, on this machine.
    case local
    /// By Apple's `verifyReceipt`.
    case endpoint
    /// By both, which must agree.
    case both
  }

  /// The way in which receipts of the app are verified. ``ReceiptVerifier`` verifies locally if the app has no
  /// endpoint.
  package var verification: Verification
  /// Whether receipts are stored as evidence. Their contents are stored in any case.
  package var keepsReceipts: Bool
  /// Whether a receipt from before iOS 7, which cannot be verified, is looked up at the App Store by its transaction
  /// id. The purchase is not linked to a customer.
  package var looksUpUnverified: Bool

  /// Creates a policy; the defaults are those of an app without settings.
  package init(
    verification: Verification = .local, keepsReceipts: Bool = false, looksUpUnverified: Bool = false
  ) {
    self.verification = verification
    self.keepsReceipts = keepsReceipts
    self.looksUpUnverified = looksUpUnverified
  }
}
