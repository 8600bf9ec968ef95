import PostgreSQL
import Testing

extension PostgresTests {
  @Suite struct StatementTests {
    private let database: Database
    private let connection: Connection

    init() throws {
      database = try Database()
      connection = try database.connect()
    }

    @Test(
      "Values of every type return as they were bound, directly and through PgBouncer",
      arguments: [false, true])
    func values(isPooled: Bool) throws {
      let connection = isPooled ? try database.connectPooled() : connection
      let statement = Statement(
        "SELECT $1::bigint, $2::text, $3::bytea, $4::bigint, $5::text, $6::bytea, $7::boolean, $8::float8",
        on: connection)
      for number in [Int64.min, -1, 0, 1, .max] {
        statement.bind(1, number)
        statement.bind(2, "naïve 🌍 ' \" ?")
        statement.bind(3, [0, 255, 39])
        statement.bind(4, nil as Int64?)
        statement.bind(5, nil as String?)
        statement.bind(6, [])
        statement.bind(7, .bool(true))
        statement.bind(8, .float8(-2.75))
        #expect(try statement.step())
        #expect(statement.number(0) == number && statement.isNumber(0))
        #expect(statement.text(1) == "naïve 🌍 ' \" ?")
        #expect(statement.bytes(2) == [0, 255, 39])
        #expect(statement.isNull(3) && statement.number(3) == 0 && !statement.isNumber(3))
        #expect(statement.text(4) == nil)
        #expect(!statement.isNull(5) && statement.bytes(5) == [])
        #expect(statement.number(6) == 1)
        #expect(statement.number(7) == -2)
        #expect(try !statement.step())
        statement.reset()
      }
    }

    @Test("Integers of every size, sums and counts are numbers")
    func numbers() throws {
      let rows = try connection.query(
        PostgresRequest(
          """
          SELECT (-2)::smallint, (-3)::integer, sum(n), sum(n) * -10000000, count(*), 0::numeric, 12345678.9::numeric
          FROM unnest($1) AS n
          """, [.array(PostgresArray([1, 2, 123_456_789]))]))
      let numbers = (0..<7).map { rows.number(0, CInt($0)) }
      #expect(numbers == [-2, -3, 123_456_792, -1_234_567_920_000_000, 3, 0, 12_345_678])
    }

    @Test("Arrays go in and out with NULLs, and can be empty")
    func arrays() throws {
      var (numbers, texts) = (PostgresArray(of: .int8), PostgresArray(of: .text))
      var (bytes, flags) = (PostgresArray(of: .bytea), PostgresArray(of: .bool))
      for index in 0..<3 {
        numbers.append(index == 1 ? nil : Int64(index))
        texts.append(index == 1 ? nil : "t\(index)")
        bytes.append(index == 1 ? nil : [UInt8(index)])
        flags.append(index == 1 ? nil : index == 0)
      }
      let rows = try connection.query(
        PostgresRequest(
          """
          SELECT $1, array_to_string($2, ',', '-'), array_to_string($3, ',', '-'),
            (SELECT count(*) FROM unnest($1, $2, $3, $4) AS u(n, t, b, f) WHERE f), cardinality($5)
          """,
          [.array(numbers), .array(texts), .array(bytes), .array(flags), .array(PostgresArray(of: .text))]))
      #expect(rows.numbers(0, 0) == [0, nil, 2])
      #expect(rows.text(0, 1) == "t0,-,t2")
      #expect(rows.text(0, 2) == #"\x00,-,\x02"#)
      #expect(rows.number(0, 3) == 1)
      #expect(rows.number(0, 4) == 0)
    }

    @Test("A set-based statement writes each column from one array")
    func sets() throws {
      try connection.execute("CREATE TABLE customer (id bigint PRIMARY KEY, name text, body bytea)")
      let insert = Statement(
        "INSERT INTO customer SELECT * FROM unnest($1, $2, $3) ON CONFLICT DO NOTHING", on: connection)
      insert.bind(1, .array(PostgresArray(Int64(0)..<1000)))
      insert.bind(2, .array(PostgresArray((0..<1000).map { "name \($0)" })))
      insert.bind(3, .array(PostgresArray((0..<1000).map { [UInt8](repeating: 7, count: $0) })))
      try insert.run()
      try insert.run()
      #expect(try connection.number("SELECT sum(length(body)) FROM customer") == 499_500)
    }

    @Test(
      "Statements with the same text share one prepared statement, which survives its object and a reopened session"
    )
    func prepared() throws {
      for number in 0..<5 {
        let statement = Statement("SELECT ?1 + ?, '?' AS \"?\"", on: connection)
        statement.bind(1, Int64(number))
        statement.bind(2, Int64(1))
        #expect(try statement.step())
        #expect(statement.number(0) == Int64(number + 1) && statement.text(1) == "?")
        if number == 3 { try connection.reopen() }
      }
      #expect(
        try connection.number(
          "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1 +%'") == 1)
    }

    @Test("A statement through PgBouncer is not prepared, because each transaction can have another session")
    func unnamed() throws {
      let connection = try database.connectPooled()
      for _ in 0..<3 { #expect(try connection.number("SELECT count(*) FROM pg_prepared_statements") == 0) }
      #expect(failure { () throws(PostgresError) in try connection.listen(to: "channel") }?.kind == .misuse)
    }

    @Test("A statement runs again after a change of its table")
    func changedTable() throws {
      try connection.execute("CREATE TABLE setting AS SELECT 1::bigint AS value")
      let select = Statement("SELECT * FROM setting", on: connection)
      #expect(try select.step())
      select.reset()
      try connection.execute("ALTER TABLE setting ADD COLUMN other text")
      // The server refuses the old plan once; the next run prepares it again.
      #expect(failure { () throws(PostgresError) in _ = try select.step() }?.sqlState == "0A000")
      select.reset()
      #expect(try select.step())
      #expect(select.isNull(1))
    }

    @Test("A copy writes many rows, and none if it fails")
    func copy() throws {
      try connection.execute("CREATE TABLE item (id bigint PRIMARY KEY, name text, body bytea)")
      let count = try connection.copy(into: "item", columns: ["id", "name", "body"]) {
        (copy) throws(PostgresError) in
        for id in Int64(0)..<5000 {
          try copy.append([
            .int8(id), id == 7 ? .null(.text) : .text("n\(id)"), .bytea([UInt8](repeating: 1, count: 100)),
          ])
        }
      }
      #expect(count == 5000)
      #expect(
        try connection.number("SELECT count(*) FROM item WHERE name IS NOT NULL AND length(body) = 100")
          == 4999)
      let duplicate = failure { () throws(PostgresError) in
        try connection.copy(into: "item", columns: ["id"]) { (copy) throws(PostgresError) in
          try copy.append([.int8(6000)])
          try copy.append([.int8(1)])
        }
      }
      #expect(duplicate?.kind == .conflict)
      let stopped = failure { () throws(PostgresError) in
        try connection.copy(into: "item", columns: ["id"]) { (copy) throws(PostgresError) in
          try copy.append([.int8(7000)])
          throw PostgresError(.misuse, "no more rows")
        }
      }
      #expect(stopped?.message == "no more rows")
      #expect(
        failure { () throws(PostgresError) in try connection.copy(into: "none", columns: ["id"]) { _ in } }?
          .sqlState == "42P01")
      #expect(try connection.number("SELECT count(*) FROM item") == 5000)
    }
  }
}
