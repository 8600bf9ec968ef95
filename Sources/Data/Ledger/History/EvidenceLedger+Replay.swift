internal import AppStore
internal import Entitlements
internal import SignedData
package import Store

// Notifications that were kept, understood anew.
extension EvidenceLedger {
  /// Interprets a kept notification of version 2 again, as if it came now with what is known of types and
  /// documents now. Interpreted twice it changes nothing more.
  ///
  /// - `isDryRun`: nothing is to change.
  /// - Returns: the record before and after; `nil` if that is no notification that was believed.
  package func reprocess(
    _ id: EvidenceID, isDryRun: Bool
  ) async throws(LedgerError) -> (before: NotificationRecord, after: NotificationRecord)? {
    let (catalog, now) = (catalog.value, now())
    let body = {
      @Sendable (store: any StoreTransaction) throws(StoreError)
        -> (before: NotificationRecord, after: NotificationRecord)? in
      guard let stored = try store.evidence(id), let before = try store.notification(id),
        case .notification(let contents) = DecodedEvidence(stored.evidence)
      else { return nil }
      let derivation = Derivation(store, catalog: catalog, now: now)
      try derivation.apply(.notification(contents), of: stored)
      try derivation.finish()
      guard var after = try store.notification(id) else { return nil }
      // What is inside counted when it came, so nothing of it is news now; what it means may be.
      if after.state == .superseded { after.state = before.state == .superseded ? .superseded : .applied }
      try store.put(after)
      return (before, after)
    }
    do {
      return isDryRun ? try await store.dryRun(body) : try await store.write(body)
    } catch {
      throw .store(error)
    }
  }

  /// Whether a signed payload that was refused would be believed now.
  package func wouldVerify(signedPayload: String, of appID: String) throws(LedgerError) -> Bool {
    (try? verified(signedPayload, for: try app(appID))) != nil
  }
}
