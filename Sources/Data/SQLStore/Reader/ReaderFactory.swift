package import Store

/// Returns a reader of one snapshot at a time over `connection`; `hash` is that of ``CustomerRow``.
package func makeReader(
  _ connection: sending any SQLConnection, changes: CustomerVersions,
  hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash
) throws(StoreError) -> sending any CheckReader {
  try SQLReader(connection, changes: changes, hash: hash)
}
