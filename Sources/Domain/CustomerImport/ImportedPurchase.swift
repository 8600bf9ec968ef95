internal import AppStore
internal import Entitlements

/// A purchase in another store, from the rows of its periods.
struct ImportedPurchase: Hashable, Sendable {
  let source: String
  private var latest: ImportRow
  private var since: Instant?

  var id: String { latest.purchaseID }
  private var revision: Int64 { latest.revision ?? 1 }
  private var period: Instant? { latest.period ?? latest.since }

  /// Adds the row of a period to the state so far.
  init(source: String, adding row: ImportRow, to state: ImportedPurchase?) {
    self.source = source
    guard let state else {
      (latest, since) = (row, row.since)
      return
    }
    // The last period decides; of two versions of one period the later one.
    var row = row
    row.period = row.period ?? row.since ?? state.period
    let new = row.period?.millisecondsSince1970 ?? 0
    let known = state.period?.millisecondsSince1970 ?? 0
    let isLater = new == known ? (row.revision ?? 1) >= state.revision : new > known
    latest = isLater ? row : state.latest
    latest.revision = max(row.revision ?? 1, state.revision)
    since = [state.since, row.since].compactMap { $0 }.min()
  }

  /// The grants to report at the time of the import, `now`, if the service stores the grants `stored` of the purchase: one
  /// for each entitlement, and the ends of those that the purchase no longer grants.
  func grants(after stored: [StoredGrant], at now: Instant) -> [ImportedGrant] {
    if let period, let known = stored.compactMap(\.period).max(), period < known {
      // The rows are about earlier periods only.
      return []
    }
    var ids: Set<String> = []
    let current = latest.entitlements.compactMap { entitlement -> ImportedGrant? in
      let known = stored.first { $0.entitlement == entitlement }
      let id = known?.externalID ?? newID(of: entitlement, stored)
      guard ids.insert(id).inserted, known?.revision ?? 0 <= revision else { return nil }
      return ImportedGrant(
        source: source, externalID: id, entitlement: entitlement, productID: latest.productID,
        revision: revision, since: known?.revision == revision ? known?.since : since, until: latest.until,
        refundedAt: latest.refundedAt, period: period)
    }
    let others = stored.filter { $0.isImported && !ids.contains($0.externalID) }
    return current + others.compactMap { end(of: $0, at: now) }
  }

  /// The id of the first report about an entitlement: a purchase is one grant, so that further entitlements need their own.
  private func newID(of entitlement: String, _ stored: [StoredGrant]) -> String {
    stored.isEmpty && latest.entitlements.count == 1
      ? id : ExternalPurchase.externalID(of: entitlement, ofPurchase: id)
  }

  /// The end of an entitlement that the purchase had in an earlier state; `nil` if that state is not earlier, or had ended.
  private func end(of grant: StoredGrant, at now: Instant) -> ImportedGrant? {
    guard grant.revision < revision, !latest.unknownEntitlements.contains(grant.entitlement) else {
      return nil
    }
    var end = now
    if let period, let known = grant.period, known < period { end = period }
    if let until = grant.until, until <= end { return nil }
    return ImportedGrant(
      source: source, externalID: grant.externalID, entitlement: grant.entitlement,
      productID: grant.productID, revision: revision, since: grant.since, until: end, refundedAt: nil,
      period: period)
  }
}
