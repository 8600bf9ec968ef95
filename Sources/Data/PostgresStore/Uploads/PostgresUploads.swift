internal import PostgreSQL
internal import Store
internal import Synchronization

/// The table `upload`. Every replica appends and reads, so that a job continues after a takeover.
final class PostgresUploads: UploadStore {
  private let session: Mutex<LazySession>

  /// Opens its session with the first call. A statement fails after 10 seconds, and all do while `feed` has no answer of
  /// the database: they block threads that others need.
  init(_ settings: PostgresSettings, _ feed: StoreFeed? = nil) {
    session = Mutex(LazySession(settings, timeout: .seconds(10), feed: feed))
  }

  /// Appends one piece; a repeated or concurrent append at the same offset changes nothing. Returns the size
  /// afterwards, from which the caller sees whether the piece was appended.
  func append(_ data: [UInt8], to name: String, at offset: Int64) throws(StoreError) -> Int64 {
    _ = try query(
      """
      INSERT INTO upload (name, position, data) SELECT $1, $2, $3
        WHERE $2 = coalesce((\(Self.size)), 0) ON CONFLICT (name, position) DO NOTHING
      """, [.text(name), .int8(offset), .bytea(data)])
    return try size(of: name) ?? 0
  }

  func size(of name: String) throws(StoreError) -> Int64? {
    let rows = try query(Self.size, [.text(name)])
    return rows.count > 0 ? rows.number(0, 0) : nil
  }

  private static let size =
    "SELECT position + length(data) FROM upload WHERE name = $1 ORDER BY position DESC LIMIT 1"

  /// Reads at most `count` bytes from one piece, so fewer than requested may be returned before the end.
  func read(_ name: String, at offset: Int64, upTo count: Int) throws(StoreError) -> [UInt8] {
    let rows = try query(
      """
      SELECT substring(data FROM ($2 - position + 1)::int FOR $3::bigint::int) FROM upload
        WHERE name = $1 AND position <= $2 ORDER BY position DESC LIMIT 1
      """, [.text(name), .int8(offset), .int8(Int64(count))])
    return rows.count > 0 ? rows.bytes(0, 0) : []
  }

  /// Overwrites bytes in place, so that offsets of a running job stay valid.
  func overwrite(_ name: String, at offset: Int64, with bytes: [UInt8]) throws(StoreError) {
    // They may be in several pieces.
    _ = try query(
      """
      UPDATE upload SET data = overlay(data
          PLACING substring($3::bytea FROM (greatest(position - $2, 0) + 1)::int
            FOR (least($2 + length($3::bytea), position + length(data)) - greatest($2, position))::int)
          FROM (greatest($2 - position, 0) + 1)::int)
        WHERE name = $1 AND position < $2 + length($3::bytea) AND position + length(data) > $2
      """, [.text(name), .int8(offset), .bytea(bytes)])
  }

  func delete(_ name: String) throws(StoreError) {
    _ = try query("DELETE FROM upload WHERE name = $1", [.text(name)])
  }

  /// The size counts a piece as at least ``StoredUpload/minPieceBytes``, because rows cost space too.
  func all() throws(StoreError) -> [StoredUpload] {
    let rows = try query(
      """
      SELECT name, sum(greatest(length(data), $1::bigint))::bigint,
          extract(epoch FROM greatest(statement_timestamp() - max(at), '0'))::bigint
        FROM upload GROUP BY name ORDER BY name
      """, [.int8(StoredUpload.minPieceBytes)])
    return (0..<rows.count).map {
      StoredUpload(name: rows.text($0, 0) ?? "", bytes: rows.number($0, 1), age: .seconds(rows.number($0, 2)))
    }
  }

  /// Runs a statement on the session, one at a time.
  private func query(_ sql: String, _ parameters: [PostgresValue]) throws(StoreError) -> PostgresRows {
    let result: Result<PostgresRows, StoreError> = session.withLock { session in
      do throws(StoreError) {
        return .success(try session.connection().query(PostgresRequest(sql, parameters)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
