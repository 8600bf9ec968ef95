package import AppStore

/// What one signed app transaction says: which copy of the app the customer has, and since when.
package struct AppTransactionFact: Hashable, Sendable {
  /// Apple's number for one Apple account and one app; empty in documents from before there was one.
  package var appTransactionID: String
  /// The version that the customer first got; decides who paid for an app that is free now.
  package var originalApplicationVersion: String
  /// When the customer first got the app.
  package var originalPurchaseDate: Instant?
  /// When the app was ordered before it was out.
  package var preorderDate: Instant?
  /// Where it was first got.
  package var originalPlatform: PurchasePlatform?
  /// When Apple signed the document. Of two about one copy the newer one counts.
  package var signedDate: Instant

  /// A fact by its parts.
  package init(
    appTransactionID: String = "", originalApplicationVersion: String,
    originalPurchaseDate: Instant? = nil, preorderDate: Instant? = nil,
    originalPlatform: PurchasePlatform? = nil, signedDate: Instant
  ) {
    self.appTransactionID = appTransactionID
    self.originalApplicationVersion = originalApplicationVersion
    self.originalPurchaseDate = originalPurchaseDate
    self.preorderDate = preorderDate
    self.originalPlatform = originalPlatform
    self.signedDate = signedDate
  }
}

extension AppTransactionFact {
  /// Whether this document replaces `other`, which is about the same copy. See
  /// ``TransactionFact/supersedes(_:)``.
  package func supersedes(_ other: AppTransactionFact) -> Bool {
    guard times == other.times else { return times > other.times }
    return texts > other.texts
  }

  private var times: (Int64, Int64, Int64) {
    (order(signedDate), order(originalPurchaseDate), order(preorderDate))
  }

  private var texts: (String, String) { (originalApplicationVersion, originalPlatform?.rawValue ?? "") }
}
