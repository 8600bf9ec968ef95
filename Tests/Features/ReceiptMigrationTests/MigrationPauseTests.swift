import AppStore
import AppStoreSupport
import Foundation
import Ledger
import SignedData
import Store
import Synchronization
import Testing

@testable import ReceiptMigration

@Suite("Migration jobs on a busy or full store") struct MigrationPauseTests {
  /// Collects the pauses of a job.
  private final class Pauses: Sendable {
    let all = Mutex<[Duration]>([])
  }

  private func intake(of service: ReceiptService, over store: FailingStore) -> ReceiptIntake {
    let (appStore, clock) = (service.appStore, service.appStore.simulator.clock)
    let ledger = EvidenceLedger(
      store: store, verifier: appStore.verifier, catalog: appStore.catalog, now: { clock.now() })
    return ReceiptIntake(
      ledger: ledger, lookup: appStore.lookup, catalog: appStore.catalog,
      verifier: ReceiptVerifier(verifier: appStore.verifier, endpoints: [:]),
      policies: ["demo": ReceiptPolicy()])
  }

  @Test(
    "A line of a customer whose rows are damaged is listed; if its result cannot be stored, the run ends with the error",
    arguments: [1, 2])
  func damage(failures: Int) async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let lines = [
        #"{"customer_id":"ana","receipt":"\#(receipt)"}"#,
        #"{"customer_id":"ben","original_transaction_id":"0"}"#,
      ]
      try Data(lines.joined(separator: "\n").utf8).write(to: service.folder.appending(path: "input.ndjson"))
      let store = FailingStore(service.appStore.store)
      let intake = intake(of: service, over: store)
      let jobs = MigrationJobManager(
        intake: intake, store: store, folder: ImportFolder(path: service.folder.path))
      let job = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "input.ndjson", format: InputFormat().text,
          concurrency: 1, isDryRun: false), upload: ""
      ).job
      let error = StoreError.corrupt("a row")
      service.appStore.exchange.interruptNextResponse {
        store.fail(with: Array(repeating: error, count: failures))
      }
      let run = MigrationRun(
        job, jobs.folder.source(ofInput: job.order.inputPath), intake: intake, store: store,
        progress: MigrationProgress(), sleep: { _ in })
      if failures == 1 {
        try await run.run()
      } else {
        await #expect(throws: error) { try await run.run() }
      }
      let status = try await jobs.status(of: MigrationJobManager.name(of: job.id), in: "demo")
      #expect(store.remaining == 0)
      if failures == 1 {
        #expect(status.job.state == .finished && status.job.doneLines == 2)
        #expect(status.job.counts == [.retryable: 1, .rejected: 1])
        #expect(Set(status.reasons.map(\.reason)) == ["STORE_UNAVAILABLE", "TRANSACTION_ID_ZERO"])
      } else {
        #expect(status.job.state == .running, "it continues after a restart")
      }
    }
  }

  @Test(
    "A busy or full store pauses a job for as long as it lasts, and every line is migrated",
    arguments: [StoreError.overloaded(waiting: 4096), .diskFull, .failed("database is locked (SQLite 5)")])
  func pause(error: StoreError) async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let input = service.folder.appending(path: "input.ndjson")
      let lines = [
        #"{"customer_id":"ana","receipt":"\#(receipt)"}"#,
        #"{"customer_id":"ben","original_transaction_id":"0"}"#,
      ]
      try Data(lines.joined(separator: "\n").utf8).write(to: input)

      let store = FailingStore(service.appStore.store)
      let pauses = Pauses()
      let jobs = MigrationJobManager(
        intake: intake(of: service, over: store), store: store,
        folder: ImportFolder(path: service.folder.path),
        sleep: { pause in pauses.all.withLock { $0.append(pause) } })
      var status = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "input.ndjson", format: InputFormat().text,
          concurrency: 1, isDryRun: false), upload: "")

      // More failures than a line has attempts.
      store.fail(with: Array(repeating: error, count: 40))
      let running = Task { try await jobs.run() }
      defer { running.cancel() }
      let name = MigrationJobManager.name(of: status.job.id)
      while status.job.state == .running {
        try await Task.sleep(for: .milliseconds(10))
        status = try await jobs.status(of: name, in: "demo")
      }
      #expect(store.remaining == 0)
      #expect(status.job.state == .finished && status.job.doneLines == 2)
      #expect(status.job.counts == [.migrated: 1, .rejected: 1])
      #expect(pauses.all.withLock { $0.count } >= 30)
      #expect(pauses.all.withLock { $0.max() } == .seconds(30))
    }
  }

  @Test("A line whose lookup is tried again counts in the speed of its job when it is finished")
  func speed() async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let line = #"{"customer_id":"ana","receipt":"\#(receipt)"}"#
      try Data(line.utf8).write(to: service.folder.appending(path: "input.ndjson"))
      let store = service.appStore.store
      let jobs = MigrationJobManager(
        intake: service.intake, store: store, folder: ImportFolder(path: service.folder.path))
      let job = try await jobs.startNew(
        MigrationJob.Order(
          appID: "demo", environments: [.sandbox], inputPath: "input.ndjson", format: InputFormat().text,
          concurrency: 1, isDryRun: false), upload: ""
      ).job
      service.appStore.exchange.fail(with: .unreachable("reset"))
      let progress = MigrationProgress()
      let rates = Mutex<[Double]>([])
      let run = MigrationRun(
        job, jobs.folder.source(ofInput: job.order.inputPath), intake: service.intake, store: store,
        progress: progress, sleep: { _ in rates.withLock { $0.append(progress.rate) } })
      try await run.run()
      #expect(rates.withLock { $0 } == [0, 0, 0, 0])
    }
  }
}
