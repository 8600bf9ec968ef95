import AppStore
import Foundation
import JSON
import SQLite
import Sandbox
import SandboxStore
import Testing

@Suite("Sandbox database file")
struct DatabaseFileTests {
  private let folder = try! SandboxFolder()

  /// Returns the error text of opening the database.
  private func openError(timeout: Duration = .seconds(5)) -> String {
    do {
      _ = try folder.open(timeout: timeout)
      return "none"
    } catch {
      return "\(error)"
    }
  }

  private func write(_ text: String, to name: String = "store/sandbox.sqlite") throws {
    try FileManager.default.createDirectory(atPath: folder.path(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
  }

  // MARK: Open errors

  @Test("A database of a newer version is rejected unchanged")
  func newer() throws {
    _ = try folder.open()
    try SQLiteConnection<SandboxError>(path: folder.database).execute("PRAGMA user_version = 7")
    #expect(openError() == "\(folder.database) has schema version 7, and this program knows versions up to 1")
    #expect(try SQLiteConnection<SandboxError>(path: folder.database).number("PRAGMA user_version") == 7)
  }

  @Test("A file that is not a database is rejected")
  func noDatabase() throws {
    try write(String(repeating: "not a database ", count: 100))
    #expect(openError() == "\(folder.database) is corrupt: file is not a database")
  }

  @Test("Another program's database is rejected unchanged")
  func foreign() throws {
    try write("")
    try SQLiteConnection<SandboxError>(path: folder.database).execute("CREATE TABLE recipe (name TEXT)")
    #expect(openError() == "\(folder.database) is corrupt: not a sandbox database")
    let foreign = try SQLiteConnection<SandboxError>(path: folder.database)
    #expect(try foreign.number("SELECT count(*) FROM sqlite_schema") == 1)
    #expect(try foreign.number("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'delete'") == 1)
  }

  @Test("A truncated database is rejected")
  func cutShort() async throws {
    do {
      let store = try folder.open()
      for number in 0..<50 { _ = try await store.buy("coins", "customer-\(number)") }
    }
    let file = try FileHandle(forUpdating: URL(filePath: folder.database))
    try file.truncate(atOffset: file.seekToEnd() / 8192 * 4096)
    try file.close()
    #expect(openError() == "\(folder.database) is corrupt: database disk image is malformed")
  }

  @Test("A malformed journal line is rejected with its number")
  func unreadableLine() async throws {
    do { _ = try await folder.open().buy("coins", "ann") }
    try SQLiteConnection<SandboxError>(path: folder.database).execute(
      #"UPDATE journal SET entry = '{"action":"dance","with":{}}' WHERE line = 2"#)
    #expect(
      openError()
        == "\(folder.database) is corrupt: journal line 2 is malformed")
  }

  @Test("A directory in place of the database is rejected")
  func directory() throws {
    try FileManager.default.createDirectory(atPath: folder.database, withIntermediateDirectories: true)
    #expect(openError().hasPrefix("cannot use \(folder.database): "))
  }

  @Test("A locked database is rejected after the timeout")
  func locked() throws {
    _ = try folder.open()
    let other = try SQLiteConnection<SandboxError>(path: folder.database)
    try other.execute("BEGIN IMMEDIATE")
    #expect(
      openError(timeout: .milliseconds(1)) == "cannot use \(folder.database): database is locked (SQLite 5)")
    try other.execute("ROLLBACK")
    #expect(openError(timeout: .milliseconds(1)) == "none")
  }

  // MARK: Write errors

  @Test("After a failed write actions are rejected until the write succeeds")
  func unwritten() async throws {
    let bought: Int64
    do {
      let store = try folder.open(timeout: .milliseconds(1))
      let other = try SQLiteConnection<SandboxError>(path: folder.database)
      try other.execute("BEGIN IMMEDIATE")
      for account in ["ann", "ben"] {
        await #expect(throws: Refused.self) { _ = try await store.buy("coins", account) }
      }
      try other.execute("ROLLBACK")
      bought = try await store.buy("coins", "cleo")
    }
    let rows = try folder.tables()
    let store = try folder.open()
    #expect(try folder.tables() == rows)
    // ann's purchase preceded the failed write; ben's was rejected because of it.
    let owners = rows["purchase"]?.map { $0.split(separator: ", ")[3] }
    #expect(owners == ["'ann'", "'cleo'"])
    #expect(try await store.buy("coins", "ann") > bought)
  }
}
