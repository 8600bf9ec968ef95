internal import Foundation
internal import Logging
internal import Metrics
internal import Platform
internal import PostgreSQL
internal import Store

/// Renews the row of this process in the table `replica`, by which others know which programs use the store.
package struct ReplicaRegistrar: Worker {
  /// The time between two registrations; a sixth of ``RegisteredReplica/lifetime``.
  static let interval = Duration.seconds(5)
  /// The time after a registration that failed. Others must see the process soon after the database is back, so that commands
  /// for a stopped store are refused.
  static let retryInterval = Duration.seconds(1)

  package let name = "replica_registrar"
  private static let reachable = Gauge(label: "entitled_database_reachable")
  private static let replicas = Gauge(label: "entitled_replicas")

  private let logger = Logger(label: "entitled.store")
  private let thread: SessionThread
  private let id = UUID().uuidString
  private let replica: String
  private let program: String
  private let catalog: @Sendable () -> UInt64
  private let feed: StoreFeed
  private let counted: @Sendable (_ replicas: Int) -> Void
  private let sleep: @Sendable (Duration) async throws -> Void

  /// `program` is the version of this program; `counted` receives the number of replicas. Tests replace `sleep`.
  package init(
    _ store: PostgresEntitlementStore, program: String,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    counted: @escaping @Sendable (_ replicas: Int) -> Void
  ) {
    thread = SessionThread("registration", LazySession(store.settings, timeout: Self.interval))
    self.program = program
    replica = store.replication?.name.name ?? ProcessInfo.processInfo.hostName
    feed = store.feed
    catalog = { [store] in store.catalog }
    self.counted = counted
    self.sleep = sleep
  }

  /// Registers until the task is cancelled, and removes the row then, unless the database is away.
  ///
  /// - Throws: an error that another session does not end.
  package func run() async throws {
    var pause = Self.interval
    repeat {
      do {
        try await thread.run { session throws(StoreError) in try register(session.connection()) }
        pause = Self.interval
      } catch {
        Self.reachable.record(0)
        guard error.concernsConnection else { throw error }
        if pause != Self.retryInterval {
          logger.warning("registration failed, will retry", metadata: ["error": "\(error)"])
        }
        pause = Self.retryInterval
      }
    } while (try? await sleep(pause)) != nil
    guard !feed.isAway else { return }
    try? await thread.run { session throws(StoreError) in
      let removal = PostgresRequest("DELETE FROM replica WHERE replica_id = $1", [.text(id)])
      _ = try session.connection().query(removal)
    }
  }

  /// Registers the process with its catalog and its distance from the head, and removes replicas that were not seen
  /// for a day. Fails once the store no longer supports this program's schema.
  private func register(_ connection: PostgresConnection<StoreError>) throws(StoreError) {
    let catalog = self.catalog()
    _ = try connection.query(CatalogOrder.registration(of: catalog))
    let rows = try connection.query(
      PostgresRequest(
        """
        WITH supported AS (SELECT 1 FROM store_version WHERE oldest <= $4 FOR SHARE)
        INSERT INTO replica (replica_id, name, program, schema_version, catalog, seen_at, behind, lag)
          SELECT $1, $2, $3, $4, $5, clock_timestamp(), greatest(0, (SELECT position FROM head) - $6),
            coalesce((
              SELECT greatest(0, floor(extract(epoch FROM clock_timestamp() - at) * 1000)::bigint) FROM change
                WHERE position > $6 ORDER BY position LIMIT 1), 0)
            FROM supported
          ON CONFLICT (replica_id) DO UPDATE SET catalog = excluded.catalog, seen_at = excluded.seen_at,
            behind = excluded.behind, lag = excluded.lag RETURNING 1
        """,
        [
          .text(id), .text(replica), .text(program), .int8(PostgresSchema.version),
          .int8(Int64(bitPattern: catalog)), .int8(feed.position),
        ]))
    guard rows.count == 1 else {
      throw .failed("a newer program removed what this one needs from the store; end this process")
    }
    _ = try connection.query(
      PostgresRequest("DELETE FROM replica WHERE seen_at < clock_timestamp() - interval '1 day'"))
    let count = try RegisteredReplica.alive(connection).count
    Self.replicas.record(count)
    counted(count)
    Self.reachable.record(1)
  }
}
