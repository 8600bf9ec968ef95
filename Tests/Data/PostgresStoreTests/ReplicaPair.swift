import AppStore
import Entitlements
import PostgreSQL
import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// Runs `body` with two replicas, which do nothing on their own, and another session.
func withReplicas(
  isPooled: Bool = false,
  _ body: (PostgresEntitlementStore, PostgresEntitlementStore, PostgresConnection<PostgresError>)
    async throws -> Void
) async throws {
  try await PostgresSlots.shared.run {
    let server = try PostgresServer.shared()
    let name = try server.makeDatabase()
    defer { try? server.removeDatabase(name) }
    let settings = isPooled ? server.pooledSettings(name) : server.settings(name)
    // The tests end leases themselves; on a busy machine the usual five seconds could pass between two steps.
    let lease = Duration.seconds(600)
    let first = try PostgresEntitlementStore(
      settings, replica: ReplicaName(name: "a", address: "host:1"), leaseDuration: lease)
    let second = try PostgresEntitlementStore(
      settings, replica: ReplicaName(name: "b", address: "host:2"), leaseDuration: lease)
    try await body(first, second, try PostgresConnection<PostgresError>(server.settings(name)))
    await first.close()
    await second.close()
  }
}

/// Waits until a session waits for a lock of the given kind.
func waitForLock(_ control: PostgresConnection<PostgresError>, _ kind: String) async throws {
  let waiting = """
    SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = '\(kind)'
    """
  while try control.number(waiting) == 0 { await Task.yield() }
}

func evidence(_ text: String) -> Evidence {
  Evidence(
    appID: "ocean", environment: .sandbox, customerID: nil, kind: .signedTransaction, source: .submission,
    receivedAt: Instant(millisecondsSince1970: 5), content: EvidenceContent(Array(text.utf8)),
    verdict: .accepted)
}

extension PostgresEntitlementStore {
  var shared: any Replication { get throws { try #require(replication) } }
  var role: ReplicaRole { get throws { try shared.role } }
  var leader: CurrentLeader? { get throws { try shared.leader } }
  func beat() async throws { try await shared.beat() }

  func append(_ text: String) async throws(StoreError) -> AppendedEvidence {
    try await write { transaction throws(StoreError) in try transaction.append(evidence(text)) }
  }

  func count() async throws(StoreError) -> Int64 {
    try await read { snapshot throws(StoreError) in try snapshot.counts().evidence }
  }
}

/// The app of tests in which only its customers differ.
let ocean = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
  environments: [.sandbox],
  products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])

/// A customer of ``ocean``.
func customer(_ id: String) -> CustomerKey {
  CustomerKey(appID: "ocean", environment: .sandbox, customerID: id)
}
