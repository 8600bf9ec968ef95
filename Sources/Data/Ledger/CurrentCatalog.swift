package import Entitlements
internal import Synchronization

/// The catalog in force. All components share one value, so that a new catalog takes effect everywhere at once.
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

  /// The number of replacements. A result computed from ``value`` is valid while this equals its value from before
  /// ``value`` was read.
  package var generation: UInt64 { replacements.load(ordering: .acquiring) }
}
