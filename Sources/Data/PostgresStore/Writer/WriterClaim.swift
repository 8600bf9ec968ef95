internal import PostgreSQL
internal import Store

/// The right of one session to write, and the number of its last commit, as in the table `head`.
///
/// Each commit is conditional on both. A writer that was replaced, or frozen and woken, changes nothing, because its
/// epoch is refused.
struct WriterClaim {
  /// The number of writers that there were up to this one.
  let epoch: Int64
  /// The number of commits up to the last one.
  let position: Int64

  /// Takes the right to write: from any writer, or only from `last`.
  ///
  /// A commit of `last` whose outcome is unknown holds the row's lock, so this waits for the outcome and then shows it.
  ///
  /// - Throws: ``StoreError/conflict(_:)`` if there was another writer after `last`, or if the store needs a newer
  ///   program by now.
  static func take(
    on connection: PostgresConnection<StoreError>, after last: WriterClaim?
  ) throws(StoreError) -> WriterClaim {
    let rows = try connection.query(
      PostgresRequest(
        """
        UPDATE head SET epoch = epoch + 1 WHERE epoch = coalesce($1, epoch)
          AND (SELECT oldest FROM store_version) <= $2 RETURNING epoch, position
        """, [.int8(orNull: last?.epoch), .int8(PostgresSchema.version)]))
    guard rows.count == 1 else { throw .anotherWriter }
    return WriterClaim(epoch: rows.number(0, 0), position: rows.number(0, 1))
  }

  /// Takes the right to write together with the lease, in one statement: a process that is frozen between them takes
  /// neither.
  ///
  /// - Returns: `nil` if another replica has the lease.
  static func take(
    on connection: PostgresConnection<StoreError>, with lease: Lease
  ) throws(StoreError) -> WriterClaim? {
    let rows = try connection.query(
      PostgresRequest(
        """
        WITH \(Lease.takingStatement(1))
        UPDATE head SET epoch = epoch + 1 FROM taken RETURNING epoch, position
        """, [.text(lease.instance)]))
    guard rows.count == 1 else { return nil }
    return WriterClaim(epoch: rows.number(0, 0), position: rows.number(0, 1))
  }

  /// The claim after a commit.
  var advanced: WriterClaim { WriterClaim(epoch: epoch, position: position + 1) }

  /// The statement that makes a commit the next one of this writer. It fails in any other case, and the commit, which
  /// follows in the same round trip, with it.
  var advance: PostgresRequest {
    PostgresRequest(
      """
      WITH moved AS (
        UPDATE head SET position = position + 1 WHERE epoch = $1 AND position = $2 RETURNING 1)
      SELECT 1 / count(*) FROM moved
      """, [.int8(epoch), .int8(position)])
  }
}
