package import Entitlements
package import Store

/// Rebuilds everything that was derived from the evidence alone, in another store.
///
/// What comes out must be what there is; and a rule that was corrected is applied to what was known before.
package enum EvidenceReplay {
  private static let pageSize = 200

  /// Replays all evidence of `source` into `target`, which is empty, as if it arrived again when it did.
  ///
  /// - Returns: how many pieces of evidence there were.
  package static func run(
    from source: any StoreReader, into target: any EntitlementStore, catalog: Catalog
  ) async throws(StoreError) -> Int {
    var count = 0
    var last: EvidenceID?
    while true {
      let page = try source.evidence(after: last, limit: pageSize)
      source.endTurn()
      try await target.write { store throws(StoreError) in
        for evidence in page {
          try store.restore(evidence)
          let derivation = Derivation(store, catalog: catalog, now: evidence.evidence.receivedAt)
          try derivation.apply(DecodedEvidence(evidence.evidence), of: evidence)
          try derivation.finish()
        }
      }
      count += page.count
      last = page.last?.id
      guard page.count == pageSize else { return count }
    }
  }
}
