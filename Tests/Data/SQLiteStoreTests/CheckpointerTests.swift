import Foundation
internal import SQLite
import Store
import Testing

@testable import SQLiteStore

@Suite("Checkpoints beside the writer")
struct CheckpointerTests {
  @Test(
    "The log begins anew each time it is long, and nothing is missing afterwards", .timeLimit(.minutes(2)))
  func beginsAnew() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "checkpointer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "entitled.sqlite").path
    var writer: Connection? = try Connection.writer(path: path)
    try writer?.execute("CREATE TABLE filler (content BLOB NOT NULL)")
    let checkpointer = try Checkpointer(path: path)
    writer?.leaveCheckpointsToOwner()

    var (written, beginnings, length) = (0, 0, 0)
    while beginnings < 3, let writer {
      try writer.execute("INSERT INTO filler VALUES (randomblob(65536))")
      written += 1
      if writer.logLength < length { beginnings += 1 }
      length = writer.logLength
      checkpointer.follow(writer)
    }
    // One commit has 17 pages; less than a log that is long would mean that it is copied too often.
    #expect(written * 17 > 3 * 4_000)

    checkpointer.close()
    writer = nil
    let reader = try Connection(path: path)
    #expect(try reader.number("SELECT count(*) FROM filler") == Int64(written))
    #expect(
      try reader.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
  }

  @Test("A commit that is not followed by others leaves the log as it is")
  func shortLog() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "checkpointer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "entitled.sqlite").path
    let writer = try Connection.writer(path: path)
    let checkpointer = try Checkpointer(path: path)
    writer.leaveCheckpointsToOwner()
    try writer.execute("CREATE TABLE filler (content BLOB NOT NULL)")
    checkpointer.follow(writer)
    checkpointer.close()
    let length = writer.logLength
    try writer.execute("INSERT INTO filler VALUES (x'00')")
    #expect(writer.logLength > length)
  }
}
