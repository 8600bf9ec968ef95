internal import CSQLite3
package import Store

/// Turns a result of SQLite's that is no success into the store's word for it, in one place.
///
/// SQLite's messages name tables and columns, never values, so they may be logged.
package func check(_ result: CInt, _ handle: OpaquePointer?) throws(StoreError) {
  guard result != SQLITE_OK else { return }
  throw failure(result, handle)
}

/// The store's word for a `result` that is no success.
package func failure(_ result: CInt, _ handle: OpaquePointer?) -> StoreError {
  let message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
  // The low byte is the kind of failure; what is above it says where it happened.
  switch result & 0xFF {
  case SQLITE_FULL: return .diskFull
  case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(message)
  default: return .failed("\(message) (SQLite \(result))")
  }
}
