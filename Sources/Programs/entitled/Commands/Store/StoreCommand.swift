internal import AppStore
internal import ArgumentParser
internal import Configuration
internal import Entitlements
internal import SQLiteStore
internal import Store

/// `entitled store`: care of what is remembered.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Care of what is remembered.",
    subcommands: [
      StoreStatsCommand.self, StoreBackupCommand.self, StoreVerifyCommand.self, StoreVacuumCommand.self,
      StoreReplayCommand.self, StoreExportCommand.self, StoreSeedCommand.self,
    ])
}

/// `entitled store seed`: a store full of invented customers, for benchmarks.
struct StoreSeedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seed", abstract: "Fill an empty store with invented customers, for benchmarks.",
    discussion: """
      Customers are called customer-0000001 and so on. Each has a yearly subscription of the demo app \
      with one to three periods, of which the last is running; their renewals are due one after the other \
      over a month. They rest on no signed document. With --only-answers there is nothing but what Check \
      reads, which makes ten million in some minutes.
      """,
    shouldDisplay: false)

  @Option(help: "How many customers.") var customers: Int
  @Option(help: "A YAML file with apps and products; without it, the demo app.") var config: String?
  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?

  @Flag(help: "Write only what Check reads.") var onlyAnswers = false

  func validate() throws {
    guard customers > 0 else { throw ValidationError("--customers takes a number above 0") }
  }

  func run() async throws {
    let file = config ?? ServerOption.environment("ENTITLED_CONFIG")
    guard let app = try Startup.configuration(file: file).catalog[SyntheticCustomer.appID] else {
      throw Failure("the configuration has no app \(SyntheticCustomer.appID), which the customers belong to")
    }
    let store = try Startup.store(in: ServerOption.data.value(data))
    let now = SystemClock.now()
    do {
      let all = SyntheticCustomers(count: customers, app: app, now: now)
      if onlyAnswers { try await writeAnswers(of: all, to: store) } else { try await write(all, to: store) }
      // Else the service would look at everybody again when it starts.
      try await store.write { transaction throws(StoreError) in
        try transaction.setFingerprint(app.fingerprint, toldToAllOf: app.id)
      }
    } catch {
      throw Failure(error.description)
    }
    await store.close()
  }

  private func write(
    _ customers: SyntheticCustomers, to store: SQLiteEntitlementStore
  ) async throws(StoreError) {
    for first in stride(from: 1, through: customers.count, by: Self.batch) {
      let page = first...min(first + Self.batch - 1, customers.count)
      try await store.write { transaction throws(StoreError) in
        let evidence = try transaction.append(Self.evidence(of: page, customers.now))
        for number in page { try customers[number].write(to: transaction, evidence.id) }
      }
    }
  }

  /// In the order of their rows: each page of the file is written once.
  private func writeAnswers(
    of customers: SyntheticCustomers, to store: SQLiteEntitlementStore
  ) async throws(StoreError) {
    let order = (1...customers.count)
      .map { (row: SQLiteEntitlementStore.row(of: customers[$0].key), number: $0) }
      .sorted { $0.row < $1.row }
    for first in stride(from: 0, to: order.count, by: Self.batch) {
      let page = order[first..<min(first + Self.batch, order.count)]
      try await store.write { transaction throws(StoreError) in
        for (_, number) in page { try customers[number].writeAnswers(to: transaction) }
      }
    }
  }

  private static let batch = 5_000

  private static func evidence(of numbers: ClosedRange<Int>, _ now: Instant) -> Evidence {
    Evidence(
      appID: SyntheticCustomer.appID, environment: .sandbox, customerID: nil,
      kind: .init(rawValue: "SEED"), source: .init(rawValue: "SEED"), receivedAt: now,
      content: EvidenceContent(Array("customers \(numbers)".utf8)), verdict: .accepted)
  }
}
