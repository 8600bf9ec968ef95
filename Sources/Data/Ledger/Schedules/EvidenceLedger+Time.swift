package import AppStore
internal import Entitlements
internal import Store

// What happens without anybody saying so: time passes, and the catalog changes.
extension EvidenceLedger {
  /// How many customers are looked at in one write. Between two of them others get their turn.
  private static let batchSize = 100

  /// Writes what time alone changed up to `moment`: each expiry and each other turn that nobody notified,
  /// once, with the moment at which it became true, also if nobody looked for long.
  ///
  /// - Returns: how many events that were.
  @discardableResult
  package func advance(to moment: Instant) async throws(LedgerError) -> Int {
    let catalog = catalog.value
    var count = 0
    while true {
      let (customers, events) = try await write { store throws(StoreError) in
        let due = try store.due(by: moment, limit: Self.batchSize)
        let derivation = Derivation(store, catalog: catalog, now: moment)
        for customer in due { derivation.touch(customer, by: .init(cause: .time, evidence: nil)) }
        try derivation.finish()
        return (due.count, derivation.events.count)
      }
      count += events
      guard customers == Self.batchSize else { return count }
    }
  }

  /// Works out anew the answers that were worked out under another catalog or by other rules, and writes
  /// what that changed. Nothing is read if nothing of that kind happened since the last time.
  ///
  /// - Returns: how many events that were.
  @discardableResult
  package func adoptCatalog() async throws(LedgerError) -> Int {
    let catalog = catalog.value
    var count = 0
    for app in catalog.appIDs.compactMap({ catalog[$0] }) {
      let told = try await write { store throws(StoreError) in try store.fingerprint(toldToAllOf: app.id) }
      guard told != app.fingerprint else { continue }
      count += try await adopt(app, catalog)
    }
    return count
  }

  private func adopt(_ app: AppDefinition, _ catalog: Catalog) async throws(LedgerError) -> Int {
    let now = now
    var count = 0
    var last: CustomerKey?
    while true {
      let (customers, events) = try await write { [last] store throws(StoreError) in
        let customers = try store.customers(
          of: app.id, toldUnderOtherThan: app.fingerprint, after: last, limit: Self.batchSize)
        let derivation = Derivation(store, catalog: catalog, now: now())
        for customer in customers { derivation.touch(customer, by: .init(cause: .catalog, evidence: nil)) }
        try derivation.finish()
        if customers.count < Self.batchSize {
          try store.setFingerprint(app.fingerprint, toldToAllOf: app.id)
        }
        return (customers, derivation.events.count)
      }
      count += events
      last = customers.last
      guard customers.count == Self.batchSize else { return count }
    }
  }
}
