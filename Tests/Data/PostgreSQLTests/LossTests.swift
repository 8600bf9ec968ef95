import PostgreSQL
import PostgresSupport
import Testing

extension PostgresTests {
  /// Time limits and lost sessions. `pg_terminate_backend` of another session ends one as a failover does.
  @Suite struct LossTests {
    private let database: Database
    private let connection: Connection
    private let other: Connection

    init() throws {
      database = try Database()
      connection = try database.connect()
      other = try database.connect()
      try connection.execute("CREATE TABLE entry (id bigint PRIMARY KEY)")
    }

    private func terminate() throws {
      let process = try connection.number("SELECT pg_backend_pid()")
      #expect(try other.number("SELECT pg_terminate_backend(\(process), 5000)::int") == 1)
    }

    @Test(
      "A write whose session is lost has an unknown outcome, a read and a write inside a transaction are unavailable"
    )
    func lost() throws {
      try terminate()
      let read = failure { () throws(PostgresError) in _ = try connection.number("SELECT count(*) FROM entry")
      }
      #expect(read?.kind == .unavailable && connection.isBroken)
      #expect(
        failure { () throws(PostgresError) in try connection.execute("SELECT 1") }?.kind == .unavailable)
      try connection.reopen()
      try terminate()
      let write = failure { () throws(PostgresError) in try connection.execute("INSERT INTO entry VALUES (1)")
      }
      #expect(write?.kind == .outcomeUnknown)
      try connection.reopen()
      try connection.execute("BEGIN")
      try terminate()
      let inside = failure { () throws(PostgresError) in
        try connection.execute("INSERT INTO entry VALUES (1)")
      }
      #expect(inside?.kind == .unavailable)
      try connection.reopen()
      try connection.execute("BEGIN; INSERT INTO entry VALUES (1)")
      try terminate()
      #expect(
        failure { () throws(PostgresError) in try connection.execute("COMMIT") }?.kind == .outcomeUnknown)
      try connection.reopen()
      #expect(try connection.number("SELECT count(*) FROM entry") == 0)
    }

    @Test("A pipeline that the server ends in the middle of a commit has an unknown outcome")
    func lostDuringCommit() throws {
      // A deferred trigger ends the session itself, when the commit has begun.
      try connection.execute(
        """
        CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER stop AFTER INSERT ON entry DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION stop();
        """)
      let error = failure { () throws(PostgresError) in
        _ = try connection.pipeline([PostgresRequest("INSERT INTO entry VALUES (1)")])
      }
      #expect(error?.kind == .outcomeUnknown && error?.sqlState == "57P01")
    }

    @Test("A statement that takes too long is cancelled, and the session stays usable")
    func timeout() throws {
      let process = try connection.number("SELECT pg_backend_pid()")
      connection.timeout = .milliseconds(50)
      let error = failure { () throws(PostgresError) in try connection.execute("SELECT pg_sleep(60)") }
      #expect(error?.kind == .timedOut && !connection.isBroken)
      connection.timeout = nil
      #expect(try connection.number("SELECT pg_backend_pid()") == process)
    }

    @Test("An interruption ends a pipeline, and nothing is written")
    func interrupt() throws {
      try connection.execute("BEGIN")
      var questions = 0
      connection.interrupt {
        questions += 1
        return questions > 3
      }
      let error = failure { () throws(PostgresError) in
        _ = try connection.pipeline([
          PostgresRequest("INSERT INTO entry VALUES (1)"), PostgresRequest("SELECT pg_sleep(60)"),
        ])
      }
      #expect(error?.kind == .timedOut)
      connection.interrupt(if: nil)
      try connection.execute("ROLLBACK")
      #expect(try connection.number("SELECT count(*) FROM entry") == 0)
    }

    @Test("A commit that takes too long is not cancelled: its outcome is unknown, and it may be written")
    func slowCommit() throws {
      connection.timeout = .milliseconds(50)
      let error = failure { () throws(PostgresError) in
        _ = try connection.pipeline([
          PostgresRequest("INSERT INTO entry VALUES (1)"),
          PostgresRequest("SELECT pg_sleep(0.3)"),
        ])
      }
      #expect(error?.kind == .outcomeUnknown && connection.isBroken)
      // A write of the same row waits for the end of the first.
      let write = failure { () throws(PostgresError) in try other.execute("INSERT INTO entry VALUES (1)") }
      #expect(write?.kind == nil || write?.sqlState == "23505")
    }
  }
}
