internal import Glibc
internal import SQLStore
internal import SQLite
package import Store

extension SQLiteEntitlementStore {
  /// Returns one snapshot of a store that another process may have open, without locking or writing. The
  /// write-ahead log of the store grows until the caller releases the snapshot.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is no store in `directory`;
  ///   ``StoreError/newerSchema(found:supported:)``; ``StoreError/corrupt(_:)`` if the file has no tables.
  package static func reader(ofStoreIn directory: String) throws(StoreError) -> sending any StoreSnapshot {
    let path = directory + "/entitled.sqlite"
    guard access(path, R_OK) == 0 else {
      throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    let connection = try Connection.reader(path: path, isMapped: false)
    try Schema.requireCurrent(connection)
    return try makeReader(connection, changes: CustomerVersions())
  }
}
