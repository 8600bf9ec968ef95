package import Entitlements
internal import Synchronization

/// The catalog that is in force now. One value is shared by everything that decides, so that a new
/// catalog takes effect everywhere at once.
package final class CurrentCatalog: Sendable {
  private let catalog: Mutex<Catalog>

  /// Starts with `catalog`.
  package init(_ catalog: Catalog) { self.catalog = Mutex(catalog) }

  /// The catalog in force.
  package var value: Catalog { catalog.withLock { $0 } }

  /// Puts another catalog in force.
  package func replace(with catalog: Catalog) { self.catalog.withLock { $0 = catalog } }
}
