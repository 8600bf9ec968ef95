internal import AppStore

/// What each version of Apple's notifications told of one purchase line, where they are not of one mind: what
/// a team wants to know before it relies on the newer one.
package struct VersionComparison: Sendable {
  /// What one version says and the other says otherwise, or not at all.
  package struct Difference: Hashable, Sendable {
    /// Apple's name for it.
    package let field: String
    /// Of which transaction; empty if it is about the next renewal.
    package let transactionID: String
    /// Empty where a version says nothing.
    package let version1: String
    package let version2: String
  }

  package let version1: PurchaseSummary
  package let version2: PurchaseSummary

  /// Compares what was told in the same time.
  package init(version1: PurchaseSummary, version2: PurchaseSummary) {
    self.version1 = version1
    self.version2 = version2
  }

  /// What happened by the word of version 1 alone.
  package var onlyInVersion1: [String] { Self.rest(version1.words, without: version2.words) }

  /// What happened by the word of version 2 alone, though version 1 has a word for it.
  package var onlyInVersion2: [String] { Self.rest(version2.words, without: version1.words) }

  /// What happened and only version 2 can tell.
  package var newInVersion2: [String] { version2.newWords }

  /// Whether anything would be concluded otherwise, or not at all, from one of the two.
  package var differs: Bool {
    version1.notifications == 0 || version2.notifications == 0 || !onlyInVersion1.isEmpty
      || !onlyInVersion2.isEmpty || !differences.isEmpty
  }

  /// What would be concluded otherwise. Version 1 shows the last hundred transactions in each notification, and
  /// version 2 the one that it is about: what version 2 does not show counts only if it came after all that it
  /// does.
  package var differences: [Difference] {
    guard version1.notifications > 0, version2.notifications > 0 else { return [] }
    var found: [Difference] = []
    for (id, told) in version2.purchases.sorted(by: { $0.key < $1.key }) {
      found += Self.compare(version1.purchases[id], told, id)
    }
    if let last = version1.latest, version2.purchases[last.id] == nil,
      version2.latest.map({ $0.purchase.purchaseDate < last.purchase.purchaseDate }) ?? true
    {
      found += Self.compare(last.purchase, nil, last.id)
    }
    return found + Self.compare(version1.renewal, version2.renewal)
  }

  private static func compare(
    _ old: PurchaseSummary.Purchase?, _ new: PurchaseSummary.Purchase?, _ id: String
  ) -> [Difference] {
    [
      ("productId", old?.productID, new?.productID),
      ("purchaseDate", old?.purchaseDate.description, new?.purchaseDate.description),
      ("expiresDate", old?.expiresDate?.description, new?.expiresDate?.description),
      ("revocationDate", old?.revocationDate?.description, new?.revocationDate?.description),
    ].compactMap { difference($0.0, id, $0.1, $0.2) }
  }

  /// Nothing of one version is nothing to compare with: not each notification tells of the renewal.
  private static func compare(_ old: PurchaseSummary.Renewal?, _ new: PurchaseSummary.Renewal?)
    -> [Difference]
  {
    guard let old, let new else { return [] }
    return [
      ("autoRenewProductId", old.autoRenewProductID, new.autoRenewProductID),
      ("autoRenewStatus", old.willRenew?.description, new.willRenew?.description),
      ("isInBillingRetryPeriod", old.isInBillingRetry.description, new.isInBillingRetry.description),
      (
        "gracePeriodExpiresDate", old.gracePeriodExpiresDate?.description,
        new.gracePeriodExpiresDate?.description
      ),
    ].compactMap { difference($0.0, "", $0.1, $0.2) }
  }

  private static func difference(
    _ field: String, _ id: String, _ old: String?, _ new: String?
  ) -> Difference? {
    guard old != new else { return nil }
    return Difference(field: field, transactionID: id, version1: old ?? "", version2: new ?? "")
  }

  /// The words of the one that the other has not, as often as it has not.
  private static func rest(_ words: [String], without others: [String]) -> [String] {
    var others = others
    return words.filter { word in
      guard let place = others.firstIndex(of: word) else { return true }
      others.remove(at: place)
      return false
    }
  }
}
