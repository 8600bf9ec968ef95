internal import PostgreSQL
internal import Store

/// The lease in the table `leader`, by the database's clock.
///
/// It decides which replica tries to write, not which one may: that is the epoch of ``WriterClaim``. So it has no need to
/// be durable, and does not wait for a standby.
struct Lease: Sendable {
  /// A row of the table, as one query read it.
  struct Observation {
    /// `nil` if no replica has the lease.
    let leader: CurrentLeader?
    /// Whether it is this replica.
    let isOwn: Bool
  }

  /// This process, unlike any other, also after a restart.
  let instance: String
  /// The duration of the lease after each renewal; whole seconds.
  let duration: Duration

  init(duration: Duration) {
    self.duration = duration
    var random = SystemRandomNumberGenerator()
    instance = String(UInt64.random(in: 1...UInt64(Int64.max), using: &random), radix: 16)
  }

  /// Reads the lease.
  func observe(on connection: PostgresConnection<StoreError>) throws(StoreError) -> Observation {
    let rows = try connection.query(
      PostgresRequest(
        "SELECT name, address, epoch, instance = $1 FROM leader WHERE NOT \(Self.isFree(after: duration))",
        [.text(instance)]))
    guard rows.count == 1 else { return Observation(leader: nil, isOwn: false) }
    let replica = ReplicaName(name: rows.text(0, 0) ?? "", address: rows.text(0, 1) ?? "")
    return Observation(
      leader: CurrentLeader(replica, epoch: rows.number(0, 2)), isOwn: rows.number(0, 3) == 1)
  }

  /// Renews the lease, and states the name, address and epoch of this replica.
  ///
  /// - Returns: whether this replica still has it.
  func renew(
    _ replica: ReplicaName, epoch: Int64, on connection: PostgresConnection<StoreError>
  ) throws(StoreError) -> Bool {
    let rows = try connection.query(
      PostgresRequest(
        """
        UPDATE leader SET name = $2, address = $3, epoch = $4,
          until = clock_timestamp() + interval '\(duration.components.seconds) seconds'
        WHERE instance = $1 RETURNING \(Self.withoutWaiting)
        """, [.text(instance), .text(replica.name), .text(replica.address), .int8(epoch)]))
    return rows.count == 1
  }

  /// Gives the lease up, so that another replica can take it at once.
  func release(on connection: PostgresConnection<StoreError>) throws(StoreError) {
    _ = try connection.query(
      PostgresRequest(
        """
        UPDATE leader SET until = '-infinity', instance = '' WHERE instance = $1 RETURNING \(Self.withoutWaiting)
        """, [.text(instance)]))
  }

  /// Commits the transaction of a statement without waiting for the disk or a standby.
  private static let withoutWaiting = "set_config('synchronous_commit', 'off', TRUE)"

  /// Ends the writer's session of a leader whose lease has run out: it may be frozen, with locks of a transaction.
  /// Through a pooler only the timeout of ``WriterSession`` ends it.
  func endFormerWriter(on connection: PostgresConnection<StoreError>) throws(StoreError) {
    _ = try connection.query(
      PostgresRequest(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity, leader
        WHERE datname = current_database() AND usename = current_user AND instance NOT IN ('', $1)
          AND application_name = '\(WriterSession.namePrefix)' || instance AND \(Self.isFree(after: duration))
        """, [.text(instance)]))
  }

  /// The part of a statement that takes the lease if it is free or this process's own; `taken` has a row then. The
  /// result of an earlier attempt may have been lost, so its own counts as free. A program that the tables are too new for
  /// takes none, nor does one whose catalog is older than another replica's. `instance` and `catalog` are the numbers of
  /// parameters.
  static func taking(instance: Int, catalog: Int, for duration: Duration) -> String {
    """
    taken AS (
      UPDATE leader
      SET instance = $\(instance), until = clock_timestamp() + interval '\(duration.components.seconds) seconds'
      WHERE (\(isFree(after: duration)) OR instance = $\(instance))
        AND EXISTS (SELECT 1 FROM store_version WHERE oldest <= \(PostgresSchema.version))
        AND NOT \(CatalogOrder.hasNewer(than: catalog))
      RETURNING 1)
    """
  }

  /// A condition: whether no replica has the lease. One that ends later than a lease can was taken by another clock, such
  /// as that of the primary before a failover.
  private static func isFree(after duration: Duration) -> String {
    "until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '\(2 * duration.components.seconds) seconds'"
  }
}
