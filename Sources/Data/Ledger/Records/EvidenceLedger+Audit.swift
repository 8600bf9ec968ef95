internal import AppStore
internal import Entitlements
package import Store

// Audit entries. They are no evidence: no answer depends on them, and they are deleted after a configured time.
extension EvidenceLedger {
  /// Appends audit entries, unless `areNew` returns `false`, which runs first in the same transaction. An erased customer
  /// without data since then has the pseudonym. A dry run shows whether the store takes them.
  ///
  /// - Throws: ``LedgerError/store(_:)``; no entry was appended then.
  package func append(
    _ entries: [AuditEntry], isDryRun: Bool = false,
    if areNew: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Bool = { _ in true }
  ) async throws(LedgerError) {
    let (list, catalog) = (erasures, catalog.value)
    try await commit(isDryRun: isDryRun) { store throws(StoreError) in
      guard try areNew(store) else { return ((), []) }
      let hasErasures = try !store.erasures().isEmpty
      for var entry in entries {
        if hasErasures { try store.removeErasedNames(from: &entry, catalog, list) }
        try store.append(entry)
      }
      return ((), [])
    }
  }
}

extension StoreTransaction {
  /// Removes what an erasure would remove from the entry, had it been stored before: an entry waits while its customer is
  /// erased, and the entry of the erasure itself follows it.
  fileprivate func removeErasedNames(
    from entry: inout AuditEntry, _ catalog: Catalog, _ list: ErasureList
  ) throws(StoreError) {
    for (index, id) in entry.customerIDs.enumerated() {
      guard let pseudonym = try self.pseudonym(of: id, in: entry.appID, catalog, list) else { continue }
      entry.customerIDs[index] = pseudonym
      (entry.note, entry.subject) = ("", "")
      entry.actor = entry.actor.replacingActor(id, with: pseudonym)
    }
    if !entry.subject.isEmpty, try pseudonym(of: entry.subject, in: "", catalog, list) != nil {
      entry.subject = ""
    }
  }

  /// The pseudonym of an erased customer, unless the app has data of the customer again.
  fileprivate func pseudonym(
    of customerID: String, in appID: String, _ catalog: Catalog, _ list: ErasureList
  ) throws(StoreError) -> String? {
    var found: String?
    for id in appID.isEmpty ? catalog.appIDs : [appID] {
      for environment in catalog[id]?.environments ?? [] {
        let customer = CustomerKey(appID: id, environment: environment, customerID: customerID)
        if try isKnown(customer) { return nil }
        if found == nil { found = try pseudonym(ofCustomerHash: list.hash(of: customer)) }
      }
    }
    return found
  }
}
