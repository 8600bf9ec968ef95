import AppStore
import Entitlements
import Foundation
internal import SQLite
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct StoreFileTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "care-\(UUID())").path
  private var database: String { directory + "/entitled.sqlite" }
  private var copy: String { directory + "/copy.sqlite" }

  @Test(
    "A backup of an open store contains all earlier writes, passes verification and is private to its owner")
  func backup() async throws {
    defer { remove() }
    let store = try SQLiteEntitlementStore(directory: directory)
    try await write(evidence("one"), to: store)
    let bytes = try StoreFile(directory: directory).backUp(to: copy)
    try await write(evidence("two"), to: store)
    let attributes = try FileManager.default.attributesOfItem(atPath: copy)
    #expect(attributes[.size] as? Int64 == bytes && attributes[.posixPermissions] as? Int == 0o600)
    #expect(try StoreFile(path: copy).statistics().counts.evidence == 1)
    #expect(try StoreFile(path: copy).faults().isEmpty)
    let reason = "it exists already; choose the path of a new file"
    #expect(throws: StoreError.cannotOpen(path: copy, reason: reason)) {
      try StoreFile(directory: directory).backUp(to: copy)
    }
    #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
    await store.close()
  }

  @Test("A store restored from a backup continues from its state")
  func restored() async throws {
    defer { remove() }
    let store = try SQLiteEntitlementStore(directory: directory)
    try await write(evidence("one"), to: store)
    _ = try StoreFile(directory: directory).backUp(to: copy)
    await store.close()
    let other = directory + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: copy, toPath: other + "/entitled.sqlite")
    let restored = try SQLiteEntitlementStore(directory: other)
    try await write(evidence("two"), to: restored)
    #expect(try await restored.snapshot { try $0.counts() }.evidence == 2)
    await restored.close()
  }

  @Test("Verification reports altered evidence and damaged pages")
  func damage() async throws {
    defer { remove() }
    let store = try SQLiteEntitlementStore(directory: directory)
    for number in 0..<200 { try await write(evidence("number \(number)"), to: store) }
    await store.close()
    let connection = try Connection.writer(path: database)
    try connection.execute("UPDATE evidence SET body = x'00' WHERE evidence_id = 7")
    #expect(try StoreFile(path: database).faults() == ["evidence 7 does not match its hash"])
    try connection.execute("UPDATE evidence SET compression = 9 WHERE evidence_id = 8")
    #expect(try StoreFile(path: database).faults().count == 2)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forUpdating: URL(filePath: database))
    let pages = try connection.number("PRAGMA page_count")
    for page in 2..<UInt64(pages) {
      try file.seek(toOffset: page * 4096)
      try file.write(contentsOf: Data(repeating: 0xEE, count: 64))
    }
    try file.close()
    let faults = (try? StoreFile(path: database).faults()) ?? ["unreadable"]
    #expect(!faults.isEmpty)
  }

  @Test("Vacuum releases the space of purged bodies, and the store is sound")
  func vacuum() async throws {
    defer { remove() }
    let store = try SQLiteEntitlementStore(directory: directory)
    try await write(
      evidence(String((0..<100_000).map { _ in "\u{20}\u{7E}".randomElement() ?? " " })), to: store)
    try await store.write { transaction throws(StoreError) in
      _ = try transaction.purgeBodies(
        of: .accepted([.signedTransaction]), in: .all, receivedBefore: Instant(millisecondsSince1970: .max),
        undeliveredSince: Instant(millisecondsSince1970: .max), after: nil, limit: 9)
    }
    let outcome = try store.vacuum()
    #expect(outcome.bytesAfter < outcome.bytesBefore)
    #expect(try StoreFile(path: database).faults().isEmpty)
    await store.close()
  }

  @Test("A file without tables is rejected; a new store has the current schema version")
  func schemaVersion() async throws {
    defer { remove() }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    do { _ = try Connection.writer(path: database) }
    #expect(throws: StoreError.corrupt("the file has no store schema")) {
      try StoreFile(directory: directory)
    }
    let store = try SQLiteEntitlementStore(directory: directory)
    await store.close()
    #expect(try StoreFile(directory: directory).statistics().schemaVersion == Schema.version)
  }

  private func write(_ evidence: Evidence, to store: SQLiteEntitlementStore) async throws {
    try await store.write { transaction throws(StoreError) in _ = try transaction.append(evidence) }
  }

  private func evidence(_ text: String) -> Evidence {
    Evidence(
      appID: "ocean", environment: .sandbox, customerID: nil, kind: .signedTransaction, source: .submission,
      receivedAt: Instant(millisecondsSince1970: 0), content: EvidenceContent(Array(text.utf8)),
      verdict: .accepted)
  }

  private func remove() { try? FileManager.default.removeItem(atPath: directory) }
}
