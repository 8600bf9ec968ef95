import AppStore
import AppStoreSupport
import Foundation
import Platform
import Store
import Synchronization
import Testing

@testable import ReceiptMigration

/// Uploads of replicas, which are in their store instead of a folder.
@Suite("Uploads in the store") struct StoredUploadTests {
  @Test("A job reads an upload from the store, waits while the store is out of reach, and lists its failures")
  func job() async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let uploads = MemoryUploads()
      let jobs = MigrationJobManager(
        intake: service.intake, store: service.appStore.store,
        folder: ImportFolder(path: service.folder.path, uploads: uploads), sleep: { _ in })
      let lines = [
        #"{"customer_id":"ana","receipt":"\#(receipt)"}"#,
        #"{"customer_id":"ben","original_transaction_id":"0"}"#,
      ]
      let input = Array(lines.joined(separator: "\n").utf8)
      let half = input.count / 2
      #expect(try jobs.folder.append(Array(input[..<half]), to: "u", of: "demo", at: 0) == half)
      #expect(
        try jobs.folder.append(Array(input[half...]), to: "u", of: "demo", at: Int64(half)) == input.count)
      var status = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "", format: InputFormat().text, concurrency: 1),
        upload: "u")
      #expect(status.inputBytes == Int64(input.count) && status.uploadID == "u")
      // More failures than a line has attempts: the store, not the input, is to blame.
      uploads.failures.withLock { $0 = 20 }
      let running = Task { try await jobs.run() }
      defer { running.cancel() }
      let name = MigrationJobManager.name(of: status.job.id)
      while status.job.state == .running {
        try await Task.sleep(for: .milliseconds(10))
        status = try await jobs.status(of: name, in: "demo")
      }
      #expect(status.job.state == .finished && status.job.counts == [.migrated: 1, .rejected: 1])
      let (job, failed) = try await jobs.failures(of: name, in: "demo", after: 0, limit: 10)
      let line = FailureWriter(of: job, in: jobs.folder).line(try #require(failed.first))
      #expect(line.hasPrefix(#"{"customer_id":"ben","original_transaction_id":"0","line":2,"#))
      _ = try await jobs.purge(name, in: "demo")
      #expect(uploads.content.withLock { $0.isEmpty })
    }
  }

  @Test("An upload stays until no job that has it runs or has failures")
  func sharedUpload() async throws {
    try await ReceiptService.run { service in
      let uploads = MemoryUploads()
      let jobs = MigrationJobManager(
        intake: service.intake, store: service.appStore.store,
        folder: ImportFolder(path: service.folder.path, uploads: uploads))
      let input = Array(#"{"customer_id":"ben","original_transaction_id":"0"}"#.utf8)
      _ = try jobs.folder.append(input, to: "u", of: "demo", at: 0)
      let order = MigrationJob.Order(
        appID: "demo", environments: [.sandbox], inputPath: "", format: InputFormat().text, concurrency: 1)
      var names: [String] = []
      for _ in 0..<3 {
        let status = try await jobs.startNew(order, upload: "u")
        names.append(MigrationJobManager.name(of: status.job.id))
      }
      // This job never ran.
      _ = try await jobs.cancel(names[0], in: "demo")
      _ = try await jobs.purge(names[0], in: "demo")
      #expect(uploads.content.withLock { !$0.isEmpty })
      let running = Task { try await jobs.run() }
      defer { running.cancel() }
      for name in names {
        while try await jobs.status(of: name, in: "demo").job.state == .running {
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      _ = try await jobs.purge(names[1], in: "demo")
      let (job, failed) = try await jobs.failures(of: names[2], in: "demo", after: 0, limit: 10)
      let line = FailureWriter(of: job, in: jobs.folder).line(try #require(failed.first))
      #expect(line.contains(#""original_transaction_id":"0""#))
      _ = try await jobs.purge(names[2], in: "demo")
      #expect(uploads.content.withLock { $0.isEmpty })
    }
  }

  @Test("The header of an input is read once for all failures of a page")
  func failuresBelowLongHeader() throws {
    let uploads = MemoryUploads()
    let folder = ImportFolder(path: "/no/where", uploads: uploads)
    let header = "customer_id,original_transaction_id,\(String(repeating: "x", count: 7_000))\n"
    _ = try folder.append(Array("\(header)ana,0,\nben,1,\n".utf8), to: "u", of: "demo", at: 0)
    let job = MigrationJob(
      id: 1,
      order: MigrationJob.Order(
        appID: "demo", environments: [.sandbox], inputPath: try folder.upload("u", of: "demo"),
        format: InputFormat().text, concurrency: 1), startedAt: Instant(millisecondsSince1970: 0))
    let writer = FailureWriter(of: job, in: folder)
    let reads = uploads.reads.withLock { $0 }
    for (number, id) in [(2, "0"), (3, "1")] {
      let failure = MigrationLine(
        number: Int64(number), position: Int64(header.utf8.count + (number - 2) * 7), length: 6,
        customerID: "", outcome: .rejected, reason: "X")
      #expect(writer.line(failure).contains(#""original_transaction_id":"\#(id)""#))
    }
    #expect(uploads.reads.withLock { $0 } - reads < 10)
  }

  // The start of an input of white space is read up to the length of a line to find the syntax: 97 reads.
  @Test(
    "A job is cancelled while it reads an input without a line that ends", .timeLimit(.minutes(10)),
    arguments: [("\n", 98), ("x", 3)])
  func cancellation(of text: String, after reads: Int) async throws {
    try await ReceiptService.run { service in
      let uploads = EndlessUpload(text.utf8.first ?? 0)
      let jobs = MigrationJobManager(
        intake: service.intake, store: service.appStore.store,
        folder: ImportFolder(path: service.folder.path, uploads: uploads))
      var format = InputFormat()
      format.syntax = .ndjson
      let status = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "", format: format.text, concurrency: 1),
        upload: "u")
      // As in the program: a job that computes takes no thread of the calls.
      let threads = BackgroundThreads(count: 1)
      let running = Task(executorPreference: threads) { try await jobs.run() }
      defer { running.cancel() }
      while uploads.reads < reads { try await Task.sleep(for: .milliseconds(10)) }
      let name = MigrationJobManager.name(of: status.job.id)
      #expect(try await jobs.cancel(name, in: "demo").job.state == .cancelled)
      running.cancel()
      try await running.value
      #expect(try await jobs.status(of: name, in: "demo").job.state == .cancelled)
    }
  }

  @Test("A read that blocks occupies no thread of the calls", .timeLimit(.minutes(10)))
  func blockedRead() async throws {
    try await ReceiptService.run { service in
      let uploads = StuckUpload()
      defer { uploads.release() }
      let jobs = MigrationJobManager(
        intake: service.intake, store: service.appStore.store,
        folder: ImportFolder(path: service.folder.path, uploads: uploads))
      _ = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "", format: InputFormat().text, concurrency: 1),
        upload: "u")
      let threads = BackgroundThreads(count: 1)
      let running = Task(executorPreference: threads) { try await jobs.run() }
      defer { running.cancel() }
      while !uploads.isRead { try await Task.sleep(for: .milliseconds(10)) }
      #expect(await Task(executorPreference: threads) { true }.value)
    }
  }

  @Test("Uploads in the store have the errors of those in a folder")
  func errors() throws {
    let folder = ImportFolder(path: "/no/where", uploads: MemoryUploads())
    #expect(throws: MigrationError.invalidUploadID) { try folder.append([1], to: "a/b", of: "ocean", at: 0) }
    #expect(throws: MigrationError.uploadOffsetMismatch(size: 0)) {
      try folder.append([3], to: "a", of: "ocean", at: 5)
    }
    #expect(try folder.append([1, 2], to: "a", of: "ocean", at: 0) == 2)
    #expect(try folder.append([1, 2], to: "a", of: "ocean", at: 0) == 2)
    #expect(throws: MigrationError.inputNotFound("upload-a@lake")) { try folder.upload("a", of: "lake") }
    #expect(try folder.upload("a", of: "ocean") == "upload-a@ocean")
  }

  @Test("The oldest unused upload of the app makes room, and none that a running job reads")
  func room() async throws {
    try await ReceiptService.run { service in
      let uploads = MemoryUploads()
      let jobs = MigrationJobManager(
        intake: service.intake, store: service.appStore.store,
        folder: ImportFolder(path: service.folder.path, uploads: uploads, maxUploadBytes: 40))
      for id in ["read", "old", "older", "new"] {
        #expect(try await jobs.append([UInt8](repeating: 1, count: 10), to: id, of: "demo", at: 0) == 10)
      }
      #expect(try await jobs.append([UInt8](repeating: 1, count: 40), to: "old", of: "lake", at: 0) == 40)
      // The job waits, because the manager does not run.
      _ = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "", format: InputFormat().text, concurrency: 1),
        upload: "read")
      let day = 86_400
      uploads.ages.withLock {
        $0 = [
          "upload-read@demo": .seconds(9 * day), "upload-older@demo": .seconds(8 * day),
          "upload-old@demo": .seconds(7 * day), "upload-new@demo": .seconds(6 * day),
          "upload-old@lake": .seconds(30 * day),
        ]
      }
      #expect(try await jobs.append([1], to: "next", of: "demo", at: 0) == 1)
      #expect(
        uploads.all().map(\.name).filter { $0.hasSuffix("@demo") } == [
          "upload-new@demo", "upload-next@demo", "upload-old@demo", "upload-read@demo",
        ])
      // An upload is not deleted for its own next piece.
      #expect(try await jobs.append([UInt8](repeating: 2, count: 9), to: "old", of: "demo", at: 10) == 19)
      await #expect(throws: MigrationError.noRoomForUpload(limit: 40)) {
        try await jobs.append([3], to: "old", of: "demo", at: 19)
      }
      #expect(
        uploads.all().map(\.name) == [
          "upload-new@demo", "upload-next@demo", "upload-old@demo", "upload-old@lake", "upload-read@demo",
        ])
    }
  }
}

/// Uploads in memory, whose next reads fail.
final class MemoryUploads: UploadStore {
  let content = Mutex<[String: [UInt8]]>([:])
  let failures = Mutex(0)
  let ages = Mutex<[String: Duration]>([:])
  /// The number of reads.
  let reads = Mutex(0)

  func append(_ data: [UInt8], to name: String, at offset: Int64) -> Int64 {
    content.withLock { content in
      content[name, default: []] += data
      return Int64(content[name]?.count ?? 0)
    }
  }

  func size(of name: String) -> Int64? { content.withLock { $0[name].map { Int64($0.count) } } }

  func read(_ name: String, at offset: Int64, upTo count: Int) throws(StoreError) -> [UInt8] {
    let fails = failures.withLock { failures in
      defer { failures = max(0, failures - 1) }
      return failures > 0
    }
    if fails { throw .unavailable("away") }
    reads.withLock { $0 += 1 }
    // Pieces are smaller than what a reader wants.
    return content.withLock { Array(($0[name] ?? []).dropFirst(Int(offset)).prefix(min(count, 7))) }
  }

  func overwrite(_ name: String, at offset: Int64, with bytes: [UInt8]) {
    content.withLock { $0[name]?.replaceSubrange(Int(offset)..<Int(offset) + bytes.count, with: bytes) }
  }

  func delete(_ name: String) { content.withLock { $0[name] = nil } }

  func all() -> [StoredUpload] {
    content.withLock { content in
      content.keys.sorted().map { name in
        StoredUpload(
          name: name, bytes: Int64(content[name]?.count ?? 0), age: ages.withLock { $0[name] ?? .zero })
      }
    }
  }
}

/// An upload that repeats one byte without an end.
private final class EndlessUpload: UploadStore {
  private let byte: UInt8
  private let count = Mutex(0)

  init(_ byte: UInt8) { self.byte = byte }

  /// The number of reads so far.
  var reads: Int { count.withLock { $0 } }

  func append(_ data: [UInt8], to name: String, at offset: Int64) -> Int64 { offset }
  func size(of name: String) -> Int64? { 1 << 40 }

  func read(_ name: String, at offset: Int64, upTo count: Int) -> [UInt8] {
    self.count.withLock { $0 += 1 }
    return Array(repeating: byte, count: count)
  }

  func overwrite(_ name: String, at offset: Int64, with bytes: [UInt8]) {}
  func delete(_ name: String) {}
  func all() -> [StoredUpload] { [] }
}

/// An upload whose reads wait, and then end.
private final class StuckUpload: UploadStore {
  private let released = DispatchSemaphore(value: 0)
  private let hasBegun = Mutex(false)

  var isRead: Bool { hasBegun.withLock { $0 } }

  func release() { released.signal() }

  func append(_ data: [UInt8], to name: String, at offset: Int64) -> Int64 { offset }
  func size(of name: String) -> Int64? { 1 }

  func read(_ name: String, at offset: Int64, upTo count: Int) -> [UInt8] {
    hasBegun.withLock { $0 = true }
    released.wait()
    released.signal()
    return []
  }

  func overwrite(_ name: String, at offset: Int64, with bytes: [UInt8]) {}
  func delete(_ name: String) {}
  func all() -> [StoredUpload] { [] }
}
