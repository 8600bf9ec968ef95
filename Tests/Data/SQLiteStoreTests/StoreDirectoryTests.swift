import AppStore
import Foundation
import Store
import Synchronization
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct StoreDirectoryTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "directory-\(UUID())").path
  private var database: String { directory + "/entitled.sqlite" }
  private var marker: String { directory + "/store.marker" }
  private var missing: StoreError { .missing(path: database, marker: marker) }

  /// Makes a store and closes it.
  private func make() async throws {
    let store = try SQLiteEntitlementStore(directory: directory)
    await store.close()
  }

  private func remove() { try? FileManager.default.removeItem(atPath: directory) }

  @Test("A store that was made and lost does not start as an empty one until its marker is deleted")
  func lost() async throws {
    defer { remove() }
    try await make()
    try FileManager.default.removeItem(atPath: database)
    #expect(throws: missing) { try SQLiteEntitlementStore(directory: directory) }
    #expect(!FileManager.default.fileExists(atPath: database), "a restore needs a free path")
    #expect(missing.description.contains("delete '\(marker)' to start with an empty store"))
    try FileManager.default.removeItem(atPath: marker)
    try await make()
    #expect(FileManager.default.fileExists(atPath: marker))
  }

  @Test("A marked directory with an empty database is refused, whether the file is empty or has no tables")
  func empty() async throws {
    defer { remove() }
    try await make()
    try Data().write(to: URL(filePath: database))
    #expect(throws: missing) { try SQLiteEntitlementStore(directory: directory) }
    try FileManager.default.removeItem(atPath: database)
    try Connection(path: database).execute("CREATE TABLE other (a)")
    #expect(throws: missing) { try SQLiteEntitlementStore(directory: directory) }
  }

  @Test("A backup in an empty directory opens and is marked")
  func restored() async throws {
    defer { remove() }
    try await make()
    try FileManager.default.removeItem(atPath: marker)
    try await make()
    #expect(FileManager.default.fileExists(atPath: marker))
  }

  @Test("A second link to an open database cannot be opened, because the lock is on the database itself")
  func linked() async throws {
    let other = directory + "-other"
    defer {
      remove()
      try? FileManager.default.removeItem(atPath: other)
    }
    let store = try SQLiteEntitlementStore(directory: directory)
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try FileManager.default.linkItem(atPath: database, toPath: other + "/entitled.sqlite")
    #expect(throws: StoreError.inUse(path: other + "/entitled.sqlite")) {
      try SQLiteEntitlementStore(directory: other)
    }
    await store.close()
  }

  @Test(
    "A store whose file is removed refuses writes and reports itself unhealthy, until the file is back",
    arguments: ["", "-wal", "-shm"])
  func removed(suffix: String) async throws {
    defer { remove() }
    let store = try SQLiteEntitlementStore(directory: directory)
    try await store.write { transaction throws(StoreError) in _ = try transaction.nextEvidenceID() }
    try await store.health()
    let file = database + suffix
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
    await #expect(throws: StoreError.removed(path: file)) { try await store.health() }
    await #expect(throws: StoreError.removed(path: file)) {
      try await store.write { transaction throws(StoreError) in _ = try transaction.nextEvidenceID() }
    }
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
    try await store.write { transaction throws(StoreError) in _ = try transaction.nextEvidenceID() }
    await store.close()
  }
  @Test(
    "A write that joins a batch after the store's file was removed is rejected, and the batch is committed")
  func removedDuringBatch() async throws {
    defer { remove() }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let writer = try SQLiteWriter(
      path: database, changes: CustomerVersions(), ifEmpty: nil, hash: CustomerIdentity.hash,
      maxRejectedBytes: BatchWriter.maxRejectedBytesPerDay)
    defer { writer.close() }
    let results = Mutex<[String: Result<EvidenceID, StoreError>]>([:])
    @Sendable func job(_ name: String) -> WriteJob {
      WriteJob { transaction throws(StoreError) in
        try transaction.nextEvidenceID()
      } deliver: { result in
        results.withLock { $0[name] = result }
      }
    }
    let (file, away) = (database, database + ".away")
    var arrivals = [job("late")]
    let written = writer.write([job("early")]) {
      try? FileManager.default.moveItem(atPath: file, toPath: away)
      defer { arrivals = [] }
      return arrivals
    }
    #expect(written.failure == nil)
    let (early, late) = results.withLock { ($0["early"], $0["late"]) }
    #expect((try? early?.get()) != nil)
    #expect(late == .failure(.removed(path: file)))
  }
}
