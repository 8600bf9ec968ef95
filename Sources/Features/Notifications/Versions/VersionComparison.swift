package import AppStore
internal import Ledger
internal import SignedData
package import Store

/// The differences between both versions of Apple's notifications about one purchase line, as a team needs them before it
/// switches to version 2.
package struct VersionComparison: Sendable {
  /// A value that only one version reports, or that both report differently.
  package struct Difference: Hashable, Sendable {
    /// Apple's field name.
    package let field: String
    /// Empty for the next renewal.
    package let transactionID: String
    /// Empty if the version does not report it.
    package let version1: String
    /// Empty if the version does not report it.
    package let version2: String
  }

  /// The summary of version 1.
  package let version1: PurchaseSummary
  /// The summary of version 2.
  package let version2: PurchaseSummary

  /// Compares the summaries of the same time span.
  package init(version1: PurchaseSummary, version2: PurchaseSummary) {
    self.version1 = version1
    self.version2 = version2
  }

  /// The types that only version 1 reports.
  package var onlyInVersion1: [String] { version2.counterparts.compared(with: version1.types).onlyInVersion1 }

  /// The types of version 1 that only version 2 reports.
  package var onlyInVersion2: [String] { version2.counterparts.compared(with: version1.types).onlyInVersion2 }

  /// The types that exist only in version 2.
  package var newInVersion2: [String] { version2.newTypes }

  /// Whether one version leads to other conclusions than the other.
  package var differs: Bool {
    version1.notifications == 0 || version2.notifications == 0 || !onlyInVersion1.isEmpty
      || !onlyInVersion2.isEmpty || !differences.isEmpty
  }

  /// The differing values. Version 1 contains the last hundred transactions in each notification, version 2 only the one
  /// concerned: a transaction missing in version 2 counts only if it is later than all others.
  package var differences: [Difference] {
    guard version1.notifications > 0, version2.notifications > 0 else { return [] }
    var found: [Difference] = []
    for (id, purchase) in version2.purchases.sorted(by: { $0.key < $1.key }) {
      found += Self.compare(version1.purchases[id], purchase, id)
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

  /// Compares only if both versions report a renewal, because not every notification does.
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
}

/// Compares both versions of Apple's notifications, line by line, over a time span.
package struct VersionComparisonReport: Sendable {
  /// The maximum number of notifications read for one line.
  private static let limit = 1_000

  /// The bounds of the time of receipt; `to` is exclusive.
  package let from: Instant
  package let to: Instant

  /// Creates a report about notifications received from `from` on and before `to`.
  package init(from: Instant, to: Instant) {
    self.from = from
    self.to = to
  }

  /// Returns at most `limit` lines with notifications, after `line`.
  /// Ordered by line id; the first page has an empty `line`. Rejected notifications do not count.
  package func lines(
    of appID: String, in environment: Environment, after line: String, limit: Int,
    _ reader: any StoreSnapshot
  ) throws(StoreError) -> [LineKey] {
    try reader.notifiedLines(
      of: appID, in: environment, from: from, to: to, after: line, limit: limit)
  }

  /// Compares both versions for a line.
  /// Reads at most 1,000 notifications of the line. Those whose body was purged are left out.
  package func comparison(of line: LineKey, _ reader: any StoreSnapshot) throws(StoreError)
    -> VersionComparison
  {
    var (version1, version2) = (PurchaseSummary(), PurchaseSummary())
    for record in try reader.notifications(about: line, from: from, to: to, limit: Self.limit) {
      guard let body = try reader.evidence(record.evidenceID)?.evidence.content.body else { continue }
      switch NotificationBody(body) {
      case .unsigned(let body): version1.add(body, about: line.lineID)
      case .signed(let text): Self.add(text, into: &version2)
      case .unreadable: continue
      }
    }
    return VersionComparison(version1: version1, version2: version2)
  }

  /// Adds a stored notification without verifying it again: rejected ones are not read.
  private static func add(_ text: String, into summary: inout PurchaseSummary) {
    guard let payload = inner(text, ResponseBodyV2DecodedPayload.self) else { return }
    summary.add(
      payload, inner(payload.data?.signedTransactionInfo, JWSTransactionDecodedPayload.self),
      inner(payload.data?.signedRenewalInfo, JWSRenewalInfoDecodedPayload.self))
  }

  private static func inner<Payload: DecodedPayload>(
    _ text: String?, _ type: Payload.Type
  ) -> Payload? {
    guard let text, let jws = try? UnverifiedJWS(text) else { return nil }
    return try? Payload(json: jws.payload)
  }
}
