import AppStore
import Foundation
import JSON
internal import SQLite
import SQLiteStore
import Sandbox
import SandboxStore
import Testing

@Suite("The sandbox's database file")
struct DatabaseFileTests {
  private let folder = try! SandboxFolder()

  /// What opening says is wrong.
  private func complaint(timeout: Duration = .seconds(5)) -> String {
    do {
      _ = try folder.open(timeout: timeout)
      return "nothing"
    } catch {
      return "\(error)"
    }
  }

  private func write(_ text: String, to name: String = "store/sandbox.sqlite") throws {
    try FileManager.default.createDirectory(atPath: folder.path(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
  }

  // MARK: What cannot be opened

  @Test("That of a newer version is refused, and left as it is")
  func newer() throws {
    _ = try folder.open()
    try Connection(path: folder.database).execute("PRAGMA user_version = 7")
    #expect(complaint() == "\(folder.database) has schema version 7, and this program knows versions up to 1")
    #expect(try Connection(path: folder.database).number("PRAGMA user_version") == 7)
  }

  @Test("A file that is no database is refused")
  func noDatabase() throws {
    try write(String(repeating: "not a database ", count: 100))
    #expect(complaint() == "\(folder.database) is damaged: file is not a database")
  }

  @Test("Another program's database is refused, and left as it is")
  func foreign() throws {
    try write("")
    try Connection(path: folder.database).execute("CREATE TABLE recipe (name TEXT)")
    #expect(complaint() == "\(folder.database) is damaged: it is not a sandbox's database")
    let foreign = try Connection(path: folder.database)
    #expect(try foreign.number("SELECT count(*) FROM sqlite_schema") == 1)
    #expect(try foreign.number("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'delete'") == 1)
  }

  @Test("A file that was cut short is refused")
  func cutShort() async throws {
    do {
      let store = try folder.open()
      for number in 0..<50 { _ = try await store.buy("coins", "customer-\(number)") }
    }
    let file = try FileHandle(forUpdating: URL(filePath: folder.database))
    try file.truncate(atOffset: file.seekToEnd() / 8192 * 4096)
    try file.close()
    #expect(complaint() == "\(folder.database) is damaged: database disk image is malformed")
  }

  @Test("A line of the journal that nobody understands is refused, by its number")
  func unreadableLine() async throws {
    do { _ = try await folder.open().buy("coins", "ann") }
    try Connection(path: folder.database).execute(
      #"UPDATE journal SET entry = '{"action":"dance","with":{}}' WHERE line = 2"#)
    #expect(
      complaint()
        == "\(folder.database) is damaged: line 2 of its journal is none that this version writes")
  }

  @Test("A directory in its place is refused")
  func directory() throws {
    try FileManager.default.createDirectory(atPath: folder.database, withIntermediateDirectories: true)
    #expect(complaint().hasPrefix("cannot use \(folder.database): "))
  }

  @Test("One that another program keeps locked is refused after a while")
  func locked() throws {
    _ = try folder.open()
    let other = try Connection(path: folder.database)
    try other.execute("BEGIN IMMEDIATE")
    #expect(complaint(timeout: .milliseconds(1)) == "cannot use \(folder.database): database is locked (SQLite 5)")
    try other.execute("ROLLBACK")
    #expect(complaint(timeout: .milliseconds(1)) == "nothing")
  }

  // MARK: What cannot be written

  @Test("What cannot be written is told, nothing new is done until it can, and then all of it is written")
  func unwritten() async throws {
    let bought: Int64
    do {
      let store = try folder.open(timeout: .milliseconds(1))
      let other = try Connection(path: folder.database)
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
    // What ann bought was done before it could not be written; ben came when that was known.
    let owners = rows["purchase"]?.map { $0.split(separator: ", ")[3] }
    #expect(owners == ["'ann'", "'cleo'"])
    #expect(try await store.buy("coins", "ann") > bought)
  }

  // MARK: The journal of earlier versions

  private static let journal = #"""

    {"at":1769860800000,"opened":true}
    {"at":1769860801000,"action":"purchases","with":{"app":"demo","productId":"monthly","account":"ann"}}
    {"at":1769860802000,"action":"notification-url","with":{"app":"demo","url":"http://service"}}
    {"at":1769860802000,"action":"test-notification","with":{"app":"demo"}}
    {"at":1769860803000,"attempt":1,"result":"NO_RESPONSE","next":1769864403000}
    {"at":1769860804000,"clock":{"sandbox":1769860804000,"machine":1769860804000,"speed":0}}
    {"at":1769860804000,"action":"purcha
    """#

  @Test("A journal of an earlier version is taken in once, and kept")
  func textJournal() async throws {
    try write(Self.journal, to: "store/journal")
    for _ in 0..<2 {
      let store = try folder.open()
      #expect(store.clock.now() == Instant(millisecondsSince1970: 1_769_860_804_000))
    }
    let tables = try folder.tables()
    #expect(tables["purchase"]?.count == 1)
    #expect(tables["delivery"] == ["1, 1, '2026-01-31T12:00:03.000Z', 'NO_RESPONSE'"])
    #expect(!FileManager.default.fileExists(atPath: folder.path("store/journal")))
    #expect(
      try String(contentsOfFile: folder.path("store/journal.taken-in"), encoding: .utf8) == Self.journal)
  }

  @Test("A crash after it was taken in changes nothing; that of another world is refused")
  func textJournalAgain() throws {
    try write(Self.journal, to: "store/journal")
    _ = try folder.open()
    let tables = try folder.tables()
    try FileManager.default.moveItem(
      atPath: folder.path("store/journal.taken-in"), toPath: folder.path("store/journal"))
    _ = try folder.open()
    #expect(try folder.tables() == tables)
    #expect(!FileManager.default.fileExists(atPath: folder.path("store/journal")))

    try write("\n{\"at\":5,\"opened\":true}", to: "store/journal")
    #expect(
      complaint() == "cannot use \(folder.path("store/journal")): "
        + "it tells of another world than \(folder.database): take one away")
  }
}
