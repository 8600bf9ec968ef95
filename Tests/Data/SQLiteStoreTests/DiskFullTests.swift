import AppStore
import Entitlements
import Foundation
internal import SQLite
import Store
import Synchronization
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct DiskFullTests {
  @Test("A full disk rejects a write that does not fit, and writes succeed again once space is free")
  func recovers() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "full-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/entitled.sqlite"
    let connection = try Connection.writer(path: path)
    try Schema.create(connection)
    let writer = try BatchWriter(connection, changes: CustomerVersions())

    // A limit on the number of pages simulates a full disk.
    let pages = try connection.number("PRAGMA page_count")
    try connection.execute("PRAGMA max_page_count = \(pages + 4)")
    let small = Write(1), large = Write(100_000), together = Write(2)
    #expect(writer.write([small.job]).failure == nil)
    #expect(writer.write([together.job, large.job]).failure == .diskFull)
    #expect(small.outcome == .success(1))
    #expect(large.outcome == .failure(.diskFull))
    #expect(together.outcome == .failure(.diskFull))

    try connection.execute("PRAGMA max_page_count = 1000000")
    let again = Write(100_001)
    #expect(writer.write([again.job]).failure == nil)
    #expect(again.outcome == .success(100_001))
    let reader = try makeReader(Connection.reader(path: path), changes: CustomerVersions())
    #expect(try #require(reader as? any StoreSnapshot).counts().evidence == 2)
  }
}

/// A write of the given number of bytes of evidence, and its result.
private final class Write: Sendable {
  private let result = Mutex<Result<Int, StoreError>?>(nil)
  private let size: Int

  init(_ size: Int) { self.size = size }

  var outcome: Result<Int, StoreError>? { result.withLock { $0 } }

  var job: WriteJob {
    WriteJob { [size] transaction throws(StoreError) in
      // Random bytes are incompressible.
      var random = SystemRandomNumberGenerator()
      let content = EvidenceContent((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
      _ = try transaction.append(
        Evidence(
          appID: "ocean", environment: nil, customerID: nil, kind: .signedTransaction, source: .submission,
          receivedAt: Instant(millisecondsSince1970: 0), content: content, verdict: .accepted))
      return size
    } deliver: { [self] outcome in
      result.withLock { $0 = outcome }
    }
  }
}
