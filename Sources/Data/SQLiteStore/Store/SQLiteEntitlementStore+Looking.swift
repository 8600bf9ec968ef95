internal import Glibc
internal import SQLite
package import Store

extension SQLiteEntitlementStore {
  /// A reader of a store that another process may be using: it takes no lock and writes nothing. What it sees in one
  /// turn is one moment, however long the turn lasts; while it lasts, the store's write-ahead log grows.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is no store in `directory`;
  ///   ``StoreError/newerSchema(found:supported:)``; ``StoreError/olderSchema(found:supported:)``, which the service
  ///   brings up to date when it starts.
  package static func reader(ofStoreIn directory: String) throws(StoreError) -> sending any StoreSnapshot {
    let path = directory + "/entitled.sqlite"
    guard access(path, R_OK) == 0 else {
      throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    try Schema.requireToday(try Connection.reader(path: path))
    return try SQLiteReader(path: path, changes: CustomerVersions(), isMapped: false)
  }
}
