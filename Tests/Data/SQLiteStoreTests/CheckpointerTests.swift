import Foundation
internal import SQLite
import Store
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite("Concurrent checkpoints")
struct CheckpointerTests {
  @Test(
    "A long write-ahead log is checkpointed and restarts without loss of data", .timeLimit(.minutes(10)))
  func logRestarts() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "checkpointer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "entitled.sqlite").path
    var writer: Connection? = try Connection.writer(path: path)
    try writer?.execute("CREATE TABLE filler (content BLOB NOT NULL)")
    let checkpointer = try Checkpointer(path: path)
    writer?.disableAutomaticCheckpoints()

    var (written, beginnings, length) = (0, 0, 0)
    while beginnings < 3, let writer {
      try writer.execute("INSERT INTO filler VALUES (randomblob(65536))")
      written += 1
      if writer.walPageCount < length { beginnings += 1 }
      length = writer.walPageCount
      checkpointer.checkpointIfNeeded(after: writer)
    }
    // A commit adds 17 pages, and another one when the table gets a new leaf; fewer commits would mean that checkpoints start
    // below the threshold.
    #expect(written * 18 > 3 * 4_000)

    checkpointer.close()
    writer = nil
    let reader = try Connection(path: path)
    #expect(try reader.number("SELECT count(*) FROM filler") == Int64(written))
    #expect(
      try reader.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
  }

  @Test("A commit below the checkpoint threshold leaves the log unchanged")
  func shortLog() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "checkpointer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "entitled.sqlite").path
    let writer = try Connection.writer(path: path)
    let checkpointer = try Checkpointer(path: path)
    writer.disableAutomaticCheckpoints()
    try writer.execute("CREATE TABLE filler (content BLOB NOT NULL)")
    checkpointer.checkpointIfNeeded(after: writer)
    checkpointer.close()
    let length = writer.walPageCount
    try writer.execute("INSERT INTO filler VALUES (x'00')")
    #expect(writer.walPageCount > length)
  }
}
