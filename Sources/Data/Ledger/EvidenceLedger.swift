package import AppStore
package import Entitlements
package import SignedData
package import Store
internal import Synchronization

/// The one write path: verifies evidence, appends it and derives its consequences in one commit.
///
/// The order and the number of deliveries leave no trace: the latest signature about a transaction or a
/// renewal counts, whenever it arrives.
package final class EvidenceLedger: Sendable {
  /// The maximum length of a customer id, in bytes of UTF-8.
  private static let maxCustomerIDBytes = 256

  let store: any EntitlementStore
  let verifier: SignedDataVerifier
  let catalog: CurrentCatalog
  /// The clocks of the environments.
  package let clocks: ServiceClocks
  /// The erasures, outside the store.
  let erasures: ErasureList
  private let recordEffects: @Sendable ([LedgerEffect]) -> Void
  /// The time of the last ``advance(by:)`` of each clock; missing before the first one.
  let lastAdvance = Mutex<[ClockDomain: Instant]>([:])

  /// Creates a ledger that writes to `store`. `clocks` date arrivals. `recordEffects` receives the effects of
  /// each committed write once; it counts metrics unless a test replaces it. `erasures` is in memory
  /// in tests only.
  package init(
    store: any EntitlementStore, verifier: SignedDataVerifier, catalog: CurrentCatalog,
    clocks: ServiceClocks,
    erasures: ErasureList,
    recordEffects: @escaping @Sendable ([LedgerEffect]) -> Void = { LedgerMetrics.record($0) }
  ) {
    self.store = store
    self.verifier = verifier
    self.catalog = catalog
    self.clocks = clocks
    self.erasures = erasures
    self.recordEffects = recordEffects
  }

  /// Creates a ledger with one clock for all environments.
  package convenience init(
    store: any EntitlementStore, verifier: SignedDataVerifier, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant,
    erasures: ErasureList = ErasureList(key: InstallationKey(bytes: [0])),
    recordEffects: @escaping @Sendable ([LedgerEffect]) -> Void = { LedgerMetrics.record($0) }
  ) {
    self.init(
      store: store, verifier: verifier, catalog: catalog, clocks: ServiceClocks(ServiceClock(now: now)),
      erasures: erasures, recordEffects: recordEffects)
  }

  /// Checks the customer id of the request field `field`.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` if it is empty, has more than 256 bytes or a NUL, or the form of a
  ///   ``Pseudonym``: a customer with the id of an erased one would have its history, and a replay could not tell them apart.
  package func check(_ customerID: String, _ field: String) throws(LedgerError) {
    guard !customerID.isEmpty else { throw .invalid(field: field, problem: "is empty") }
    let size = customerID.utf8.count
    guard size <= Self.maxCustomerIDBytes else {
      throw .invalid(field: field, problem: "has \(size) bytes, more than \(Self.maxCustomerIDBytes)")
    }
    // Requests of the contract have none, but lines of files and subjects of tokens can.
    guard !customerID.utf8.contains(0) else { throw .invalid(field: field, problem: "contains a NUL") }
    guard Pseudonym.erasure(in: customerID) == nil else {
      throw .invalid(
        field: field, problem: "is '\(customerID)', which has the form of the pseudonym of an erased customer"
      )
    }
  }

  /// Returns an app of the catalog in force.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``.
  @discardableResult
  func app(_ id: String) throws(LedgerError) -> AppDefinition {
    let catalog = catalog.value
    guard let app = catalog[id] else { throw .unknownApp(id, configured: catalog.appIDs) }
    return app
  }

  /// Reads one snapshot on a reader thread, without waiting for writes. Its body must have no effect.
  func read<Value: Sendable>(
    _ priority: ReadPriority = .interactive,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(LedgerError) -> Value {
    do { return try await store.read(priority, body) } catch { throw .store(error) }
  }

  /// Runs a write whose body has no effects outside the store.
  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(LedgerError) -> Outcome {
    do { return try await store.write(body) } catch { throw .store(error) }
  }

  /// Runs a write, and records the effects of its body after the commit. A dry run has no effects.
  /// `expected` are rows that the body will read.
  func commit<Outcome: Sendable>(
    isDryRun: Bool = false, expecting expected: @autoclosure () -> ExpectedReads = ExpectedReads(),
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> (Outcome, [LedgerEffect])
  ) async throws(LedgerError) -> Outcome {
    do throws(StoreError) {
      guard !isDryRun else { return try await store.dryRun(body).0 }
      let (outcome, effects) = try await store.write(expecting: expected(), body)
      if !effects.isEmpty { recordEffects(effects) }
      return outcome
    } catch {
      throw .store(error)
    }
  }
}

/// The catalog in force. All components share one value, so that a new catalog takes effect at once.
package final class CurrentCatalog: Sendable {
  private let catalog: Mutex<Catalog>
  private let replacements = Atomic<UInt64>(0)

  /// Starts with `catalog`.
  package init(_ catalog: Catalog) { self.catalog = Mutex(catalog) }

  /// The catalog in force.
  package var value: Catalog { catalog.withLock { $0 } }

  /// Puts another catalog in force.
  package func replace(with catalog: Catalog) {
    self.catalog.withLock { $0 = catalog }
    replacements.add(1, ordering: .releasing)
  }

  /// The number of replacements. A result computed from ``value`` is valid while this equals its value from
  /// before ``value`` was read.
  package var generation: UInt64 { replacements.load(ordering: .acquiring) }
}
