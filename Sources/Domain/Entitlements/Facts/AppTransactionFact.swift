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
  /// What the older documents about the app install stated about its validity, in the order of their signatures. Of those of
  /// a day (UTC) with the same statement only the first and the last are kept, because apps submit one at every start.
  package var earlier: [Validity] = []

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

  /// What one document states about the time in which the install is valid.
  package struct Validity: Hashable, Sendable {
    /// When Apple signed the document.
    package let signedDate: Instant
    /// As ``AppTransactionFact/receiptExpiresDate``.
    package let receiptExpiresDate: Instant?
    /// As ``AppTransactionFact/revocationDate``.
    package let revocationDate: Instant?

    package init(signedDate: Instant, receiptExpiresDate: Instant?, revocationDate: Instant?) {
      self.signedDate = signedDate
      self.receiptExpiresDate = receiptExpiresDate
      self.revocationDate = revocationDate
    }

    /// When the license ended or Apple revoked the purchase, whichever was first; the open end for neither.
    var end: Instant { min(receiptExpiresDate ?? .openEnd, revocationDate ?? .openEnd) }

    /// The same for the documents of a day that state the same.
    fileprivate var statement: [Int64] {
      let day = signedDate.millisecondsSince1970 / Instant.millisecondsPerDay
      return [day, order(receiptExpiresDate), order(revocationDate)]
    }

    fileprivate var times: (Int64, Int64, Int64) {
      (order(signedDate), order(receiptExpiresDate), order(revocationDate))
    }
  }
}

extension AppTransactionFact {
  /// Whether this document replaces `other` about the same app install. See
  /// ``TransactionFact/supersedes(_:)``.
  package func supersedes(_ other: AppTransactionFact) -> Bool {
    guard times == other.times else { return times > other.times }
    return texts > other.texts
  }

  /// The later document about the same app install, with what the older ones stated and the first withdrawal of the consent.
  package func merged(with other: AppTransactionFact) -> AppTransactionFact {
    var merged = supersedes(other) ? self : other
    merged.consentRescindedAt = [consentRescindedAt, other.consentRescindedAt].compactMap(\.self).min()
    let stated = Dictionary(grouping: validities + other.validities, by: \.statement).values
    let kept = Set(stated.map { $0.sorted { $0.times < $1.times } }.flatMap { [$0.first, $0.last] })
    merged.earlier = kept.compactMap(\.self).filter { $0 != merged.validity }.sorted { $0.times < $1.times }
    return merged
  }

  /// What this document states.
  private var validity: Validity {
    Validity(
      signedDate: signedDate, receiptExpiresDate: receiptExpiresDate, revocationDate: revocationDate)
  }

  /// What all documents state, the latest last.
  private var validities: [Validity] { earlier + [validity] }

  /// The times in which the install is valid, in order: each document counts until the next one, and one that ends access
  /// before that ends it until the first valid document after it.
  var access: [Range<Instant>] {
    let documents = validities
    var (times, start) = ([Range<Instant>](), originalPurchaseDate ?? documents.first?.signedDate)
    for (document, next) in zip(documents, documents.dropFirst().map(\.signedDate) + [.openEnd]) {
      if start == nil, document.signedDate < document.end { start = document.signedDate }
      guard let first = start, document.end < next else { continue }
      // A document from between a revocation and its report does not begin another time.
      if first < document.end || times.isEmpty { times.append(first..<max(first, document.end)) }
      start = nil
    }
    if let start { times.append(start..<max(start, .openEnd)) }
    return times
  }

  /// The document behind the time of access that ends at `end`: the last one with this end or an earlier one.
  func document(endingAccessAt end: Instant) -> AppTransactionFact {
    guard let stated = validities.last(where: { $0.end <= end }) else { return self }
    var document = self
    document.signedDate = stated.signedDate
    document.receiptExpiresDate = stated.receiptExpiresDate
    document.revocationDate = stated.revocationDate
    document.earlier = []
    return document
  }

  /// Whether the latest document behind this fact states the same as `document`.
  package func isStated(by document: AppTransactionFact) -> Bool {
    isSameInstall(as: document) && document.validity == validity
  }

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
