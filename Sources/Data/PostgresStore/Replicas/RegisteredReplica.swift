internal import PostgreSQL
internal import Store

/// A process in the table `replica`.
package struct RegisteredReplica: Hashable, Sendable {
  /// The name of the replica, or of the machine of a process that has the store for itself.
  package let name: String
  /// The version of its program.
  package let program: String
  package let schemaVersion: Int64
  /// The commits that it had not applied when it was seen last.
  package let commitsBehind: Int64
  /// The milliseconds since the first of them.
  package let lagMilliseconds: Int64

  /// A replica that was not seen for this time, by the database's clock, has ended.
  static let lifetime = Duration.seconds(30)

  /// A condition: whether a replica was seen within `duration`. One that was seen far in the future was seen by another
  /// clock, such as that of the primary before a failover, and not since.
  static func isAlive(for duration: Duration = lifetime) -> String {
    """
    seen_at BETWEEN clock_timestamp() - interval '\(duration.components.seconds) seconds'
      AND clock_timestamp() + interval '\(lifetime.components.seconds) seconds'
    """
  }

  /// The replicas that were seen lately, by name.
  static func alive(_ connection: PostgresConnection<StoreError>) throws(StoreError) -> [RegisteredReplica] {
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT name, program, schema_version, behind, lag FROM replica
          WHERE \(isAlive()) ORDER BY name
        """))
    return (0..<rows.count).map { row in
      RegisteredReplica(
        name: rows.text(row, 0) ?? "", program: rows.text(row, 1) ?? "", schemaVersion: rows.number(row, 2),
        commitsBehind: rows.number(row, 3), lagMilliseconds: rows.number(row, 4))
    }
  }
}
