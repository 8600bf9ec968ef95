package import AppStore
internal import Entitlements
package import Store
internal import Synchronization

// Changes without evidence: time passes, and the catalog changes.
extension EvidenceLedger {
  /// The maximum number of customers in one write. Other writes run between two of them.
  private static let batchSize = 100

  /// Records the changes of time alone until now: each expiry and each other transition that Apple did not notify,
  /// once, with the time at which it became true. Commits after every 100 customers, so a second call continues after
  /// an error. Each write reads `clock` inside it, so that it does not undo a write that came before it.
  ///
  /// - Returns: the number of events.
  /// - Throws: ``LedgerError/store(_:)``.
  @discardableResult
  package func advance(by clock: ServiceClock) async throws(LedgerError) -> Int {
    let (catalog, start, domain) = (catalog.value, clock.now(), clock.domain)
    var count = 0
    if wasClockSetBack(at: start, in: domain) { count += try await correct(by: clock, catalog) }
    lastAdvance.withLock { $0[domain] = start }
    while true {
      let (customers, events) = try await commit { store throws(StoreError) in
        let now = clock.now()
        let due = try store.due(by: now, in: domain, limit: Self.batchSize)
        var applier = FactApplier(store, catalog: catalog, now: now)
        for customer in due { applier.changes.markAffected(customer, by: .time) }
        let derived = try Derivation.run(applier)
        return ((due.count, derived.events.count), derived.effects)
      }
      count += events
      guard customers == Self.batchSize else { return count }
    }
  }

  /// Whether the clock shows an earlier time than at the last ``advance(by:)``, or there was none, so that events
  /// about a time that has not come may be recorded.
  package func wasClockSetBack(at now: Instant, in domain: ClockDomain = .all) -> Bool {
    lastAdvance.withLock { last in last[domain].map { now < $0 } ?? true }
  }

  /// Makes the next ``advance(by:)`` look for events about a time that has not come.
  func forgetAdvance(in domain: ClockDomain) { lastAdvance.withLock { $0[domain] = nil } }

  /// Evaluates the customers again whose events were recorded after now, before the clock was set back.
  private func correct(by clock: ServiceClock, _ catalog: Catalog) async throws(LedgerError) -> Int {
    try await commit { store throws(StoreError) in
      let now = clock.now()
      var applier = FactApplier(store, catalog: catalog, now: now)
      for customer in try store.customers(withEventsAfter: now, in: clock.domain)
      where try store.customer(customer) != nil {
        applier.changes.markAffected(customer, by: .time)
      }
      let derived = try Derivation.run(applier)
      return (derived.events.count, derived.effects)
    }
  }

  /// Recomputes the answers that were computed under another catalog or other rules, and records the changes.
  /// It reads no customer if catalog and rules are unchanged. Saves the segments of the configuration. Commits after every 100 customers, and stores
  /// the new fingerprint with the last of them, so it starts again after a crash.
  ///
  /// - Returns: the number of events.
  /// - Throws: ``LedgerError/store(_:)``.
  @discardableResult
  package func adoptCatalog() async throws(LedgerError) -> Int {
    let catalog = catalog.value
    var count = 0
    for app in catalog.appIDs.compactMap({ catalog[$0] }) {
      let changes = try await read { snapshot throws(StoreError) in try snapshot.catalogChanges(of: app.id) }
      if changes.last?.fingerprint != app.fingerprint {
        try await rebuildPurchaseStates(of: app)
        count += try await adopt(app, catalog)
      }
      try await adoptSegments(of: app)
    }
    return count
  }

  /// Recomputes the answers of one app, customer by customer in the order of the store.
  private func adopt(_ app: AppDefinition, _ catalog: Catalog) async throws(LedgerError) -> Int {
    let clocks = clocks
    var count = 0
    var last: CustomerKey?
    while true {
      let (customers, events) = try await commit { [last] store throws(StoreError) in
        let customers = try store.customers(
          of: app.id, withFingerprintOtherThan: app.fingerprint, after: last, limit: Self.batchSize)
        let origin = ChangeOrigin(cause: .catalog, evidence: nil)
        var (events, effects) = (0, [LedgerEffect]())
        for clock in clocks.all {
          var applier = FactApplier(store, catalog: catalog, now: clock.now())
          for customer in customers where clock.domain.contains(customer.environment) {
            applier.changes.markAffected(customer, by: origin)
          }
          let derived = try Derivation.run(applier)
          events += derived.events.count
          effects += derived.effects
        }
        if customers.count < Self.batchSize {
          let change = CatalogChange(fingerprint: app.fingerprint, at: clocks.now(in: app.environments.first))
          try store.record(change, of: app.id)
        }
        return ((customers, events), effects)
      }
      count += events
      last = customers.last
      guard customers.count == Self.batchSize else { return count }
    }
  }
}
