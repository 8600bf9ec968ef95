import Foundation
import SQLite
import Testing

@Suite struct SQLiteErrorTests {
  /// The error type of a client that keeps SQLite's error.
  private struct Failure: Error, Equatable, SQLiteErrorConvertible {
    let error: SQLiteError

    init(_ error: SQLiteError) { self.error = error }
  }

  private typealias Connection = SQLiteConnection<Failure>
  private typealias Statement = SQLiteStatement<Failure>

  private let path = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID())").path

  @Test("A constraint error has SQLite's code and names the column, but not the value")
  func constraint() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE customer (name TEXT NOT NULL UNIQUE) STRICT")
    let insert = try Statement("INSERT INTO customer VALUES (?)", on: connection)
    try insert.bind(1, "secret")
    try insert.run()
    let error = try #require(failure { () throws(Failure) in try insert.run() })
    // SQLITE_CONSTRAINT_UNIQUE
    #expect(error.code == 2067 && error.kind == .other)
    #expect(error.message == "UNIQUE constraint failed: customer.name")
    // The statement can run again with another value.
    try insert.bind(1, "other")
    try insert.run()
    #expect(try connection.number("SELECT count(*) FROM customer") == 2)
  }

  @Test("Texts that are equal as characters and differ in bytes are bound as they are")
  func equalTexts() throws {
    let connection = try Connection(path: ":memory:")
    let select = try Statement("SELECT length(CAST(? AS BLOB))", on: connection)
    for (text, size) in [("caf\u{E9}", 5), ("cafe\u{301}", 6), ("caf\u{E9}", 5)] {
      try select.bind(1, text)
      #expect(try select.step())
      #expect(select.number(0) == Int64(size))
      select.reset()
    }
  }

  @Test("A file that cannot be opened is reported with its path")
  func cannotOpen() throws {
    let error = try #require(
      failure { () throws(Failure) in _ = try Connection(path: path + "/missing/file") })
    #expect(error.kind == .cannotOpen && error.path == path + "/missing/file")
  }

  @Test("A file that is no database is corrupt when the first statement runs")
  func corrupt() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(String(repeating: "text ", count: 1000).utf8).write(to: URL(filePath: path))
    let connection = try Connection(path: path)
    let error = try #require(
      failure { () throws(Failure) in _ = try connection.number("SELECT count(*) FROM sqlite_schema") })
    #expect(error.kind == .corrupt && error.message == "file is not a database")
  }

  @Test("A full database is reported as a full disk, and writes succeed after there is space")
  func full() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE filler (bytes BLOB); PRAGMA max_page_count = 10")
    let error = try #require(
      failure { () throws(Failure) in
        try connection.execute("INSERT INTO filler VALUES (randomblob(1000000))")
      })
    #expect(error.kind == .diskFull)
    try connection.execute("PRAGMA max_page_count = 1000; INSERT INTO filler VALUES (randomblob(1000000))")
  }

  @Test("A query without a row and an empty statement are errors of the caller")
  func misuse() throws {
    let connection = try Connection(path: ":memory:")
    let noRow = try #require(
      failure { () throws(Failure) in _ = try connection.number("SELECT 1 WHERE FALSE") })
    let empty = try #require(failure { () throws(Failure) in _ = try Statement("", on: connection) })
    #expect([noRow.message, empty.message] == ["no row for: SELECT 1 WHERE FALSE", "no statement in: "])
    // SQLITE_MISUSE
    #expect([noRow.code, empty.code] == [21, 21])
  }

  /// Returns the error that `body` throws.
  private func failure(_ body: () throws(Failure) -> Void) -> SQLiteError? {
    do throws(Failure) {
      try body()
      return nil
    } catch {
      return error.error
    }
  }
}
