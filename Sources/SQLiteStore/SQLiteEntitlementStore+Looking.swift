internal import Glibc
package import Store

extension SQLiteEntitlementStore {
  /// A reader of a store that another process may be using: it takes no lock and writes nothing. What it sees in one
  /// turn is one moment, however long the turn lasts; while it lasts, the store's write-ahead log grows.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is no store in `directory`;
  ///   ``StoreError/newerSchema(found:supported:)``; ``StoreError/failed(_:)`` if it has an older schema, which the
  ///   service brings up to date when it starts.
  package static func reader(ofStoreIn directory: String) throws(StoreError) -> sending any StoreReader {
    let path = directory + "/entitled.sqlite"
    guard access(path, R_OK) == 0 else {
      throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    let found = Int(try Connection.reader(path: path).number("PRAGMA user_version"))
    guard found <= Schema.version else {
      throw .newerSchema(found: found, supported: Schema.version)
    }
    guard found == Schema.version else {
      throw .failed(
        "its schema has version \(found), older than \(Schema.version): start the service once with this program"
      )
    }
    return try SQLiteReader(path: path, changes: CustomerChanges(), isMapped: false)
  }
}
