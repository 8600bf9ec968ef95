package import PostgreSQL
package import Store

/// The entries of the inbox that no leader has executed, for operators, beside running replicas.
package struct WaitingEntries {
  /// An entry without its context, which has a key.
  package struct Entry: Hashable, Sendable {
    package let id: Int64
    package let kind: String
    /// `/package.Service/Method`, or the path of an HTTP request.
    package let method: String
    /// In UTC.
    package let receivedAt: String
    package let body: [UInt8]
  }

  /// The number of entries that a list has at most.
  private static let limit = 100
  private static let columns = """
    id, kind, method, to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), body
    """

  private let connection: PostgresConnection<StoreError>

  /// Opens a session.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the database has no tables of a store.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    connection = try PostgresConnection(settings.ofMaintenance)
    guard let schema = try StoredSchema.read(connection) else {
      throw .corrupt("the database has no tables of a store")
    }
    try schema.requireSupport()
  }

  /// The oldest entries, at most 100.
  package func oldest() throws(StoreError) -> [Entry] {
    try entries(
      PostgresRequest(
        "SELECT \(Self.columns) FROM inbox WHERE done_at IS NULL ORDER BY id LIMIT \(Self.limit)"))
  }

  /// Removes an entry; returns `nil` if no such entry waits.
  package func remove(_ id: Int64) throws(StoreError) -> Entry? {
    try entries(
      PostgresRequest(
        "DELETE FROM inbox WHERE id = $1 AND done_at IS NULL RETURNING \(Self.columns)", [.int8(id)])
    ).first
  }

  private func entries(_ request: PostgresRequest) throws(StoreError) -> [Entry] {
    let rows = try connection.query(request)
    return (0..<rows.count).map { row in
      Entry(
        id: rows.number(row, 0), kind: rows.text(row, 1) ?? "", method: rows.text(row, 2) ?? "",
        receivedAt: rows.text(row, 3) ?? "", body: rows.bytes(row, 4))
    }
  }
}
