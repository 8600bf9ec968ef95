import PostgreSQL
import PostgresSupport
import Store
import Synchronization
import Testing

@testable import PostgresStore

/// The registration of a process in the table `replica`.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct ReplicaRegistrarTests {
  @Test("A registration that was lost with its session is repeated after a second, not after a restart")
  func lostSession() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      let pauses = Mutex<[Duration]>([])
      let registrar = ReplicaRegistrar(store, program: "1") { pause in
        let count = pauses.withLock {
          $0.append(pause)
          return $0.count
        }
        guard count < 3 else { throw CancellationError() }
        guard count == 1 else { return }
        try PostgresConnection<PostgresError>(settings).execute(
          """
          SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%FROM replica%' AND pid <> pg_backend_pid()
          """)
      } counted: { _ in
      }
      try await registrar.run()
      #expect(pauses.withLock { $0 } == [.seconds(5), .seconds(1), .seconds(5)])
      #expect(try control.number("SELECT count(*) FROM replica") == 0)
      await store.close()
    }
  }

  @Test("A registration that a newer program refuses ends with an error")
  func refused() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      try PostgresConnection<PostgresError>(settings).execute("UPDATE store_version SET oldest = oldest + 1")
      let registrar = ReplicaRegistrar(store, program: "1") { _ in
      } counted: { _ in
      }
      await #expect(throws: StoreError.self) { try await registrar.run() }
      await store.close()
    }
  }
}
