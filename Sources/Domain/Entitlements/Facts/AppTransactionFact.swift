package import AppStore

/// The contents of one signed app transaction: an Apple account's install of the app (Apple's
/// AppTransaction).
package struct AppTransactionFact: Hashable, Sendable {
  /// Apple's `appTransactionId`, one per Apple account and app; empty in documents from before it existed.
  package var appTransactionID: String
  /// The version that the customer first got; it decides who paid for an app that is free now (WWDC18-704).
  package var originalApplicationVersion: String
  /// When the customer first got the app.
  package var originalPurchaseDate: Instant?
  /// When the app was pre-ordered.
  package var preorderDate: Instant?
  /// The platform on which the customer first got it.
  package var originalPlatform: PurchasePlatform?
  /// When a parent or guardian first withdrew the consent that the app is used (`RESCIND_CONSENT`); `nil` if no
  /// notification said so. Later documents about the app install do not change it, because Apple does not notify when the
  /// consent is given again.
  package var consentRescindedAt: Instant?
  /// When the receipt that documents the app install expires: the organization that bought the app has its license until
  /// then (Apple, Receipt Expiration Date). `nil` for all other installs.
  package var receiptExpiresDate: Instant?
  /// When Apple revoked the purchase of the app, for example by a refund; `nil` if it is valid. The install of a customer who
  /// bought the app again keeps its id, and later documents have no date.
  package var revocationDate: Instant?
  /// When Apple signed the document. Among documents about one app install the latest wins.
  package var signedDate: Instant

  package init(
    appTransactionID: String = "", originalApplicationVersion: String,
    originalPurchaseDate: Instant? = nil, preorderDate: Instant? = nil,
    originalPlatform: PurchasePlatform? = nil, consentRescindedAt: Instant? = nil,
    receiptExpiresDate: Instant? = nil, revocationDate: Instant? = nil, signedDate: Instant
  ) {
    self.appTransactionID = appTransactionID
    self.originalApplicationVersion = originalApplicationVersion
    self.originalPurchaseDate = originalPurchaseDate
    self.preorderDate = preorderDate
    self.originalPlatform = originalPlatform
    self.consentRescindedAt = consentRescindedAt
    self.receiptExpiresDate = receiptExpiresDate
    self.revocationDate = revocationDate
    self.signedDate = signedDate
  }
}

extension AppTransactionFact {
  /// Whether this document replaces `other` about the same app install. See
  /// ``TransactionFact/supersedes(_:)``.
  package func supersedes(_ other: AppTransactionFact) -> Bool {
    guard times == other.times else { return times > other.times }
    return texts > other.texts
  }

  /// The later document about the same app install, with the first withdrawal of the consent.
  package func merged(with other: AppTransactionFact) -> AppTransactionFact {
    var merged = supersedes(other) ? self : other
    merged.consentRescindedAt = [consentRescindedAt, other.consentRescindedAt].compactMap(\.self).min()
    return merged
  }

  /// When the license ended or Apple revoked the purchase, whichever was first; the open end for neither.
  var accessEnd: Instant { min(receiptExpiresDate ?? .openEnd, revocationDate ?? .openEnd) }

  private var times: (Int64, Int64, Int64, Int64, Int64) {
    (
      order(signedDate), order(originalPurchaseDate), order(preorderDate), order(receiptExpiresDate),
      order(revocationDate)
    )
  }

  /// Whether both are about one app install. Documents from before Apple introduced `appTransactionId` are distinguished by
  /// purchase time and version.
  func isSameInstall(as other: AppTransactionFact) -> Bool { identity == other.identity }

  /// Whether it precedes `other` in ``CustomerFacts/appTransactions``.
  func precedes(_ other: AppTransactionFact) -> Bool { identity < other.identity }

  private var identity: (String, Int64, String) {
    guard appTransactionID.isEmpty else { return (appTransactionID, 0, "") }
    return ("", order(originalPurchaseDate), originalApplicationVersion)
  }

  private var texts: (String, String) { (originalApplicationVersion, originalPlatform?.rawValue ?? "") }
}
