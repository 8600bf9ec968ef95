import PostgreSQL
import PostgresSupport
import Testing

extension PostgresTests {
  @Suite struct TransactionTests {
    private let database: Database
    private let connection: Connection

    init() throws {
      database = try Database()
      connection = try database.connect()
      try connection.execute(
        "CREATE TABLE head (app text PRIMARY KEY, position bigint NOT NULL CHECK (position < 100))")
    }

    @Test("A pipeline is one transaction, directly and through PgBouncer", arguments: [false, true])
    func pipeline(isPooled: Bool) throws {
      let connection = isPooled ? try database.connectPooled() : connection
      let insert = Statement("INSERT INTO head VALUES (?, ?)", on: connection)
      insert.bind(1, "a")
      insert.bind(2, Int64(1))
      let first = insert.request
      insert.bind(1, "b")
      let results = try connection.pipeline([
        first, insert.request, PostgresRequest("SELECT sum(position) FROM head"),
      ])
      #expect(results.map(\.changedRows) == [1, 1, 0] && results[2].number(0, 0) == 2)
      insert.bind(1, "c")
      let error = failure { () throws(PostgresError) in
        _ = try connection.pipeline([
          insert.request, PostgresRequest("SELECT 1 / 0"), PostgresRequest("DELETE FROM head"),
        ])
      }
      #expect(error?.sqlState == "22012" && error?.requestIndex == 1)
      #expect(try connection.number("SELECT count(*) FROM head") == 2)
      // The aborted statement was not prepared, and runs now.
      try insert.run()
      #expect(try connection.number("SELECT count(*) FROM head") == 3)
    }

    @Test("Requests and results that exceed all buffers do not block each other")
    func largePipeline() throws {
      connection.timeout = .seconds(30)
      let body = [UInt8](repeating: 5, count: 1 << 20)
      let results = try connection.pipeline(
        (0..<24).map { _ in PostgresRequest("SELECT $1::bytea", [.bytea(body)]) })
      #expect(results.count == 24 && results.allSatisfy { $0.bytes(0, 0).count == body.count })
    }

    @Test("Inside a transaction a failed pipeline leaves a transaction that only a rollback ends")
    func explicit() throws {
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
      #expect(connection.isInTransaction)
      _ = try connection.pipeline([PostgresRequest("INSERT INTO head VALUES ('a', 1)")])
      let error = failure { () throws(PostgresError) in
        try connection.execute("INSERT INTO head VALUES ('a', 2)")
      }
      #expect(error?.kind == .conflict && error?.sqlState == "23505" && error?.constraint == "head_pkey")
      #expect(connection.isInTransaction)
      // The server answers a commit of a failed transaction with success.
      #expect(failure { () throws(PostgresError) in try connection.execute("COMMIT") }?.sqlState == "25P02")
      #expect(!connection.isInTransaction)
      #expect(try connection.number("SELECT count(*) FROM head") == 0)
    }

    @Test("Two transactions that lock each other conflict")
    func serialization() throws {
      let other = try database.connect()
      try connection.execute("INSERT INTO head VALUES ('a', 1)")
      for connection in [connection, other] {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        _ = try connection.number("SELECT count(*) FROM head")
      }
      try connection.execute("UPDATE head SET position = 2; COMMIT")
      let error = failure { () throws(PostgresError) in try other.execute("UPDATE head SET position = 3") }
      #expect(error?.kind == .conflict && error?.sqlState == "40001")
    }

    @Test("A read-only transaction refuses writes with a distinct error")
    func readOnly() throws {
      try connection.execute("BEGIN READ ONLY")
      let error = failure { () throws(PostgresError) in try connection.execute("DELETE FROM head") }
      #expect(error?.kind == .readOnly && error?.sqlState == "25006")
    }

    @Test("Errors name constraints but contain no stored or sent values")
    func messages() throws {
      let check = failure { () throws(PostgresError) in
        _ = try connection.query(
          PostgresRequest("INSERT INTO head VALUES ($1, $2)", [.text("secret"), .int8(999)]))
      }
      #expect(check?.constraint == "head_position_check" && check?.kind == .other)
      let cast = failure { () throws(PostgresError) in
        _ = try connection.query(PostgresRequest("SELECT $1::bigint", [.text("secret")]))
      }
      let text = failure { () throws(PostgresError) in
        _ = try connection.query(PostgresRequest("SELECT $1", [.text("secret\u{0}")]))
      }
      #expect(cast?.message == "cannot cast type text to bigint" || cast?.sqlState == "22P02")
      #expect(text?.sqlState == "22021")
      for error in [check, cast, text] {
        let error = try #require(error)
        #expect(
          !"\(error)".contains("secret") && !error.message.contains("999") && !error.message.contains("0x"))
      }
    }

    @Test("A kind follows from the class of an SQLSTATE")
    func kinds() {
      let kinds: [String: PostgresError.Kind] = [
        "40001": .conflict, "40P01": .conflict, "23505": .conflict, "55P03": .conflict, "23514": .other,
        "08006": .unavailable, "08P01": .unavailable, "53100": .unavailable, "53300": .unavailable,
        "57P01": .unavailable, "57P03": .unavailable, "25P03": .unavailable, "57014": .timedOut,
        "25006": .readOnly,
        "42P01": .other, "": .other,
      ]
      for (state, kind) in kinds { #expect(PostgresError.Kind(sqlState: state) == kind, "\(state)") }
    }
  }
}
