package import Entitlements
internal import Synchronization

/// The catalog that is in force now. One value is shared by everything that decides, so that a new
/// catalog takes effect everywhere at once.
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

  /// How often it was replaced: what was worked out from ``value`` holds while this stays what it was before
  /// the value was read.
  package var generation: UInt64 { replacements.load(ordering: .acquiring) }
}
