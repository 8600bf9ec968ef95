import Foundation
import PostgreSQL
import PostgresSupport
import Testing

extension PostgresTests {
  /// Tests that stop their server or change its settings.
  @Suite(.serialized) struct ServerTests {
    private static let started = Result { try PostgresServer(["--fsync", "off"]) }
    private let server: PostgresServer

    init() throws { server = try Self.started.get() }

    private func connect() throws -> Connection { try Connection(server.settings()) }

    @Test("A commit whose wait for the standby was cancelled is not acknowledged as durable")
    func unreplicatedCommit() throws {
      let (connection, admin) = (try connect(), try connect())
      try connection.execute("CREATE TABLE IF NOT EXISTS entry (id bigint)")
      let process = try connection.number("SELECT pg_backend_pid()")
      try admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
      _ = try admin.query(PostgresRequest("SELECT pg_reload_conf()"))
      defer {
        try? admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
        _ = try? admin.query(PostgresRequest("SELECT pg_reload_conf()"))
      }
      // The operator cancels the wait, while this thread waits for the commit.
      let cancel = PostgresRequest(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'",
        [.int8(process)])
      connection.interrupt {
        _ = try? admin.query(cancel)
        return false
      }
      var error: PostgresError?
      // The server reads its new setting at the start of a statement, soon after the reload.
      while error == nil {
        error = failure { () throws(PostgresError) in try connection.execute("INSERT INTO entry VALUES (1)") }
      }
      #expect(error?.kind == .outcomeUnknown && !connection.isBroken)
    }

    @Test("A server that was stopped is unavailable, and a reopened session works after its start")
    func restart() throws {
      let connection = try connect()
      try server.stop()
      #expect(
        failure { () throws(PostgresError) in _ = try connection.number("SELECT 1") }?.kind == .unavailable)
      #expect(failure { () throws(PostgresError) in try connection.reopen() }?.kind == .unavailable)
      #expect(connection.isBroken)
      try server.start()
      try connection.reopen()
      #expect(try connection.number("SELECT 1") == 1)
    }

    @Test(
      "A query pipeline reports the loss of its session, fails at once meanwhile, and reconnects by itself")
    func pipelineReconnects() async throws {
      let (states, report) = AsyncStream.makeStream(of: PostgresError?.self)
      let pipeline = try PostgresQueryPipeline(server.settings()) { report.yield($0) }
      defer { pipeline.close() }
      var changes = states.makeAsyncIterator()
      #expect(await changes.next() == .some(nil))
      #expect(try await pipeline.query(PostgresRequest("SELECT 1")).number(0, 0) == 1)
      try server.crash()
      #expect(await changes.next()??.kind == .unavailable)
      await #expect(throws: PostgresError(.unavailable, "no connection to the database")) {
        _ = try await pipeline.query(PostgresRequest("SELECT 1"))
      }
      try server.start()
      #expect(await changes.next() == .some(nil))
      #expect(try await pipeline.query(PostgresRequest("SELECT 2")).number(0, 0) == 2)
    }

    @Test("A host that does not answer is skipped, and a standby where a primary is needed")
    func hosts() throws {
      let address = server.settings().options
      let port = try #require(address["port"]), folder = try #require(address["host"])
      var settings = server.settings().with("host", "/nonexistent,\(folder)").with("port", "1,\(port)")
      settings = settings.with("target_session_attrs", "read-write")
      #expect(try Connection(settings).number("SELECT 1") == 1)
      let standby = failure { () throws(PostgresError) in
        _ = try Connection(settings.with("target_session_attrs", "standby"))
      }
      #expect(standby?.kind == .unavailable)
      #expect(try Connection(settings.with("target_session_attrs", "prefer-standby")).number("SELECT 1") == 1)
    }

    @Test(
      "TCP needs the password, which is read from its file at each session, and the certificate of the authority"
    )
    func security() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: file) }
      var settings = server.tcpSettings()
      let known = settings.options.removeValue(forKey: "password")
      let password = try #require(known)
      settings.passwordFile = file
      let missing = failure { () throws(PostgresError) in _ = try Connection(settings) }
      #expect(missing?.kind == .unavailable && missing?.message.contains(file) == true)
      try Data("wrong\n".utf8).write(to: URL(filePath: file))
      let wrong = failure { () throws(PostgresError) in _ = try Connection(settings) }
      #expect(wrong?.message.contains("password authentication failed") == true)
      try Data("\(password)\n".utf8).write(to: URL(filePath: file))
      let connection = try Connection(settings)
      #expect(try connection.number("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == 1)
      // Another authority.
      let other = failure { () throws(PostgresError) in
        _ = try Connection(settings.with("sslrootcert", "/etc/ssl/certs/ca-certificates.crt"))
      }
      #expect(other?.kind == .unavailable)
      // The certificate is for localhost.
      let name = failure { () throws(PostgresError) in _ = try Connection(settings.with("host", "127.0.0.1"))
      }
      #expect(name?.message.contains("127.0.0.1") == true)
    }
  }
}
