import AppStore
import AppStoreClient
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import SQLiteStore
import Store
import Testing

@testable import ReceiptMigration
@testable import Sandbox

extension MigrationJobManager {
  /// Starts a job without an idempotency key.
  func startNew(_ order: MigrationJob.Order, upload: String) async throws -> JobStatus {
    guard case .started(let status) = try await start(order, upload: upload) else {
      throw MigrationError.unknownMigration("")
    }
    return status
  }
}

@Suite("Migration jobs") struct MigrationJobTests {
  /// Runs a job over `lines` to its end.
  private func run(
    _ lines: [String], in environments: [AppStore.Environment] = [.sandbox], isDryRun: Bool = false,
    links: Bool = false, _ service: ReceiptService
  ) async throws -> (MigrationJobManager, MigrationJobManager.JobStatus) {
    let input = service.folder.appending(path: "input.ndjson")
    try Data(lines.joined(separator: "\n").utf8).write(to: input)
    let jobs = MigrationJobManager(
      intake: service.intake, store: service.appStore.store, folder: ImportFolder(path: service.folder.path))
    let running = Task { try await jobs.run() }
    defer { running.cancel() }
    var status = try await jobs.startNew(
      MigrationJob.Order(
        appID: "demo", environments: environments, inputPath: "input.ndjson", format: InputFormat().text,
        concurrency: links ? 1 : 2, isDryRun: isDryRun, actor: "ops", linksUnverifiedIDs: links), upload: "")
    let name = MigrationJobManager.name(of: status.job.id)
    while status.job.state == .running {
      try await Task.sleep(for: .milliseconds(10))
      status = try await jobs.status(of: name, in: "demo")
    }
    return (jobs, status)
  }

  @Test("A job migrates its lines and lists the failed ones as valid input")
  func job() async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let (jobs, status) = try await run(
        [
          #"{"customer_id":"ana","receipt":"\#(receipt)"}"#,
          #"{"customer_id":"ben","original_transaction_id":"0"}"#, #"{"customer_id":"cat"}"#,
        ], service)
      #expect(status.job.state == .finished && status.job.doneLines == 3)
      #expect(status.job.counts == [.migrated: 1, .rejected: 2])
      #expect(Set(status.reasons.map(\.reason)) == ["TRANSACTION_ID_ZERO", "EMPTY_DOCUMENT"])
      let (job, failed) = try await jobs.failures(
        of: MigrationJobManager.name(of: status.job.id), in: "demo", after: 0, limit: 10)
      let line = FailureWriter(of: job, in: jobs.folder).line(try #require(failed.first))
      #expect(line.hasPrefix(#"{"customer_id":"ben","original_transaction_id":"0","line":2,"#))
    }
  }

  @Test(
    "A job looks ids up in its environments only",
    arguments: [
      ([.production], [.rejected: 1]), ([.production, .sandbox], [.migrated: 1]),
      ([.sandbox], [.migrated: 1]),
    ] as [([AppStore.Environment], [MigrationLine.Outcome: Int64])])
  func search(
    in environments: [AppStore.Environment], counts: [MigrationLine.Outcome: Int64]
  ) async throws {
    try await ReceiptService.run(in: [.production, .sandbox]) { service in
      let id = try await service.purchase().originalTransactionId
      let (_, status) = try await run(
        [#"{"customer_id":"ana","original_transaction_id":"\#(id)"}"#], in: environments, service)
      #expect(status.job.counts == counts && status.job.order.environment == environments.first)
    }
  }

  @Test("A line with an id of an earlier line is unchanged, and no receipt without purchases")
  func repeatedID() async throws {
    try await ReceiptService.run { service in
      let id = try await service.purchase().originalTransactionId
      let line = #"{"customer_id":"ana","original_transaction_id":"\#(id)"}"#
      let (_, status) = try await run([line, line], service)
      #expect(status.job.counts == [.migrated: 1, .unchanged: 1] && status.job.duplicates == 1)
    }
  }

  @Test("A line that links the purchases of an earlier line is migrated, and no duplicate")
  func laterLink() async throws {
    try await ReceiptService.run { service in
      let id = try await service.purchase().originalTransactionId
      let lines = ["", "ana"].map { #"{"customer_id":"\#($0)","original_transaction_id":"\#(id)"}"# }
      let (_, status) = try await run(lines, links: true, service)
      #expect(status.job.counts == [.migrated: 2] && status.job.duplicates == 0)
    }
  }

  @Test("A line with the id of a renewal links its purchase, also if it was looked up before")
  func renewal() async throws {
    try await ReceiptService.run { service in
      let id = try await service.purchase().originalTransactionId
      let (simulator, lookup) = (service.appStore.simulator, service.appStore.lookup)
      try await simulator.advanceClock(to: simulator.clock.now().advanced(byMilliseconds: 40 * 86_400_000))
      let documents = try await lookup.fetchDocuments(
        PurchaseLookup.Request(appID: "demo", environment: .sandbox, transactionID: id))
      let facts = try service.appStore.ledger.verifiedFacts(in: documents)
      let renewal = try #require(facts.transactions.map(\.transactionID).first { $0 != id })
      let lines = ["", "ana"].map { #"{"customer_id":"\#($0)","original_transaction_id":"\#(renewal)"}"# }
      let (_, status) = try await run(lines, links: true, service)
      #expect(status.job.counts == [.migrated: 2])
      let line = LineKey(appID: "demo", environment: .sandbox, lineID: id)
      #expect(try await service.appStore.store.snapshot { try $0.owner(of: line) } == "ana")
    }
  }

  @Test("An id that Apple's response does not contain is not linked, but rejected")
  func missingID() async throws {
    try await ReceiptService.run { service in
      let body =
        #"{"hasMore":false,"revision":"1","signedTransactions":[],"data":[],"environment":"Sandbox"}"#
      service.appStore.exchange.respond(
        toCallsAbout: "77",
        with: IncomingResponse(
          status: 200, headers: [("content-type", "application/json")], body: Array(body.utf8)))
      let (_, status) = try await run(
        [#"{"customer_id":"ana","original_transaction_id":"77"}"#], links: true, service)
      #expect(status.job.counts == [.rejected: 1] && status.reasons.map(\.reason) == ["UNKNOWN_TO_APPLE"])
    }
  }

  @Test("A job continues after lines that an erasure overwrote, and the others keep their numbers")
  func erasedLines() async throws {
    try await ReceiptService.run { service in
      let (jobs, status) = try await run(["    ", #"{"customer_id":"cat"}"#, "  "], service)
      #expect(status.job.state == .finished && status.job.doneLines == 2)
      #expect(status.job.counts == [.rejected: 1])
      let (_, failed) = try await jobs.failures(
        of: MigrationJobManager.name(of: status.job.id), in: "demo", after: 0, limit: 10)
      #expect(failed.map(\.number) == [2])
    }
  }

  @Test("A dry run counts the lines without storing facts")
  func dryRun() async throws {
    try await ReceiptService.run { service in
      let (_, status) = try await run(
        [#"{"customer_id":"ana","receipt":"\#(try await service.receipt())"}"#], isDryRun: true, service)
      #expect(status.job.counts == [.migrated: 1])
      #expect(service.appStore.exchange.paths.isEmpty)
    }
  }

  @Test("A job whose input is malformed fails with the error of the input")
  func malformedInput() async throws {
    try await ReceiptService.run { service in
      let (_, status) = try await run(["one,two", "1,2"], service)
      #expect(status.job.state == .failed)
      #expect(status.job.error.hasPrefix("the header has neither receipt nor original_transaction_id"))
    }
  }

  @Test(
    "A customer id that no store can hold is rejected, also by a dry run, and listed as text that it can hold",
    arguments: [false, true])
  func customerIDs(isDryRun: Bool) async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let long = String(repeating: "x", count: 100_000)
      let (jobs, status) = try await run(
        [
          #"{"customer_id":"a\u0000b","receipt":"\#(receipt)"}"#,
          #"{"customer_id":"\#(long)","receipt":"\#(receipt)"}"#,
        ], isDryRun: isDryRun, service)
      #expect(status.job.counts == [.rejected: 2])
      #expect(status.reasons.map(\.reason) == ["INVALID_FIELD"])
      #expect(service.appStore.exchange.paths.isEmpty)
      let (_, failed) = try await jobs.failures(
        of: MigrationJobManager.name(of: status.job.id), in: "demo", after: 0, limit: 10)
      #expect(failed.map(\.customerID) == ["a\u{FFFD}b", String(long.prefix(1_000))])
    }
  }

  @Test("A job whose header has a NUL fails with an error that a store can hold")
  func headerWithNUL() async throws {
    try await ReceiptService.run { service in
      let (_, status) = try await run(["customer\0,receipt\0", "a,b"], service)
      #expect(status.job.state == .failed)
      #expect(status.job.error.hasPrefix("the header has neither") && !status.job.error.utf8.contains(0))
    }
  }

  @Test("A caller of some apps reads only the inputs in the folder of the app")
  func inputOfApp() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = ImportFolder(path: path)
    for app in ["ocean", "ocean-2"] {
      try FileManager.default.createDirectory(atPath: "\(path)/\(app)", withIntermediateDirectories: true)
      try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(app)/in.csv"))
    }
    try Data([1]).write(to: URL(fileURLWithPath: "\(path)/in.csv"))
    #expect(try folder.input("ocean/in.csv", onlyOf: "ocean").hasSuffix("/ocean/in.csv"))
    for other in [
      "in.csv", "ocean-2/in.csv", "ocean/../ocean-2/in.csv", "\(path)/ocean-2/in.csv", "ocean-2/x",
    ] {
      #expect(throws: MigrationError.inputPathNotAllowed(path: other, folder: "\(path)/ocean")) {
        try folder.input(other, onlyOf: "ocean")
      }
      guard other != "ocean-2/x" else { continue }
      #expect(try folder.input(other).hasSuffix("/in.csv"))
    }
  }

  @Test("Inputs outside of the import folder, missing inputs and upload gaps have separate errors")
  func inputErrors() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = ImportFolder(path: path)
    #expect(throws: MigrationError.inputPathNotAllowed(path: "../x", folder: path)) {
      try folder.input("../x")
    }
    #expect(throws: MigrationError.inputNotFound("x")) { try folder.input("x") }
    #expect(throws: MigrationError.invalidUploadID) {
      try folder.append([1], to: "a/b", of: "ocean", at: 0)
    }
    #expect(try folder.append([1, 2], to: "a", of: "ocean", at: 0) == 2)
    #expect(try folder.append([1, 2], to: "a", of: "ocean", at: 0) == 2)
    #expect(throws: MigrationError.uploadOffsetMismatch(size: 2)) {
      try folder.append([3], to: "a", of: "ocean", at: 5)
    }
    #expect(try folder.append([3], to: "a", of: "ocean", at: 2) == 3)
  }

  @Test("Of a piece that begins below the size of an upload, the rest is appended")
  func overlappingPieces() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    for uploads in [nil, MemoryUploads()] {
      let folder = ImportFolder(path: path, uploads: uploads)
      #expect(try folder.append([1, 2], to: "a", of: "ocean", at: 0) == 2)
      #expect(try folder.append([2, 3, 4], to: "a", of: "ocean", at: 1) == 4)
      #expect(try folder.append([1, 2, 3], to: "a", of: "ocean", at: 0) == 4)
      let read = try folder.source(ofInput: folder.upload("a", of: "ocean")).opened()
      #expect(try read(0, 10) == [1, 2, 3, 4])
    }
  }

  @Test("Uploads of different apps with the same id are different files")
  func uploadsOfApps() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = ImportFolder(path: path)
    for (app, bytes) in [("ocean", [UInt8](repeating: 1, count: 2)), ("../x", [3]), ("ocean@b", [4, 5, 6])] {
      #expect(try folder.append(bytes, to: "a", of: app, at: 0) == Int64(bytes.count))
    }
    #expect(try folder.append([], to: "a", of: "ocean", at: 0) == 2)
    let input = try folder.upload("a", of: "../x")
    #expect(folder.size(ofInput: input) == 1 && ImportFolder.uploadID(ofPath: input) == "a")
  }

  @Test("The uploads of an app have a limit, of which a small file takes 4 KiB; an old one makes room")
  func limitOfUploads() async throws {
    try await ReceiptService.run { service in
      let folder = ImportFolder(path: service.folder.path, maxUploadBytes: 2 * 4_096)
      let jobs = MigrationJobManager(intake: service.intake, store: service.appStore.store, folder: folder)
      // Files of the operator do not count.
      try Data(repeating: 1, count: 10_000).write(to: service.folder.appending(path: "input.csv"))
      for id in ["a", "b"] { #expect(try await jobs.append([], to: id, of: "demo", at: 0) == 0) }
      await #expect(throws: MigrationError.noRoomForUpload(limit: 8_192)) {
        try await jobs.append([1], to: "c", of: "demo", at: 0)
      }
      #expect(try await jobs.append([1], to: "c", of: "lake", at: 0) == 1)
      let old = try folder.upload("a", of: "demo")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -8 * 86_400)], ofItemAtPath: old)
      #expect(try await jobs.append([1, 2], to: "c", of: "demo", at: 0) == 2)
      #expect(throws: MigrationError.self) { try folder.upload("a", of: "demo") }
    }
  }

  @Test("No path names an upload, because it can be that of another app; other files can have such names")
  func pathsOfUploads() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = ImportFolder(path: path)
    _ = try folder.append([1], to: "a", of: "ocean", at: 0)
    let upload = try folder.upload("a", of: "ocean")
    let link = "\(path)/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: upload)
    for name in ["upload-a@ocean", "./upload-a@ocean", upload, "link", link] {
      #expect(throws: MigrationError.inputIsUpload(name)) { try folder.input(name) }
    }
    try Data([1]).write(to: URL(fileURLWithPath: "\(path)/upload-1.csv"))
    #expect(try folder.input("upload-1.csv").hasSuffix("/upload-1.csv"))
  }
}
