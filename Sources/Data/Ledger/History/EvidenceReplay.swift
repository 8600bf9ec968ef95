internal import AppStore
package import Entitlements
internal import SignedData
package import Store

/// Rebuilds all derived data from evidence in another store, to prove that nothing differs, or to apply a
/// corrected rule to the past.
package enum EvidenceReplay {
  /// The number of pieces of evidence in one write.
  private static let pageSize = 200

  /// Replays evidence into `target`, which is empty, as if it became known at its original time: `pages` returns at most a
  /// number of pieces after another one. Evidence without a body yields no facts. Replay counts no metrics. After an error
  /// or a crash, `target` is incomplete and must be thrown away.
  ///
  /// Calls `report` with the number of pieces of evidence after each page.
  ///
  /// - Returns: the number of pieces of evidence.
  package static func run(
    into target: any EntitlementStore, catalog: Catalog, report: (Int) -> Void,
    pages: (EvidenceID?, Int) async throws(StoreError) -> [StoredEvidence]
  ) async throws(StoreError) -> Int {
    var count = 0
    var last: EvidenceID?
    while true {
      let page = try await pages(last, pageSize)
      try await target.write { store throws(StoreError) in
        for evidence in page {
          try store.restore(evidence)
          var applier = FactApplier(store, catalog: catalog, now: evidence.knownAt)
          try applier.apply(EvidenceDecoder.decode(evidence.evidence), from: evidence)
          _ = try Derivation.run(applier)
        }
      }
      count += page.count
      report(count)
      last = page.last?.id
      guard page.count == pageSize else { return count }
    }
  }
}

// Stored notifications, decoded again after an upgrade.
extension EvidenceLedger {
  /// Decodes a stored notification of version 2 again, as if it arrived now. Doing so twice changes nothing
  /// more.
  ///
  /// If `isDryRun` is set, the records are returned without committing.
  ///
  /// - Returns: the record before and after; `nil` if `id` is no notification that was accepted.
  /// - Throws: ``LedgerError/store(_:)``.
  package func reprocess(
    _ id: EvidenceID, isDryRun: Bool
  ) async throws(LedgerError) -> (before: NotificationRecord, after: NotificationRecord)? {
    let (catalog, clocks) = (catalog.value, clocks)
    return try await commit(isDryRun: isDryRun) {
      store throws(StoreError)
        -> ((before: NotificationRecord, after: NotificationRecord)?, [LedgerEffect]) in
      guard let stored = try store.evidence(id), stored.evidence.kind == .notificationV2,
        let before = try store.notification(id)
      else { return (nil, []) }
      let items = EvidenceDecoder.decode(stored.evidence)
      guard case .notification? = items.last else { return (nil, []) }
      var applier = FactApplier(store, catalog: catalog, now: clocks.now(in: stored.evidence.environment))
      try applier.apply(items, from: stored)
      try applier.linkTokenCustomers()
      let derived = try Derivation.run(applier)
      guard var after = derived.notification else { return (nil, []) }
      // Its facts are stored already and therefore not new; only the interpretation may be.
      if after.state == .superseded { after.state = before.state == .superseded ? .superseded : .applied }
      try store.put(after)
      return ((before, after), derived.effects)
    }
  }

  /// Whether a stored notification without effect verifies now, for instance with a new trust anchor, or names its
  /// environment to this version. Stores nothing.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)`` if the catalog no longer has the app.
  package func wouldChange(_ record: NotificationRecord, signedPayload: String) throws(LedgerError) -> Bool {
    let app = try app(record.appID)
    guard let contents = try? verified(signedPayload, for: app) else { return false }
    return record.state != .unsupported || contents.payload.origin != .unnamed
  }
}
