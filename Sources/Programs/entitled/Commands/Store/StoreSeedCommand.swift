internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import Ledger
internal import Reports
internal import SQLiteStore
internal import Store

/// `entitled store seed`: synthetic customers for benchmarks.
struct StoreSeedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seed", abstract: "Fill an empty store with synthetic customers.",
    discussion: """
      The customers are customer-0000001, customer-0000002, and so on. Each has a yearly subscription of the demo \
      app with one to three periods, the last of which is active; the renewals are spread over one month. There are \
      no signed documents. With --only-answers, only the rows that Check reads are written: ten million customers \
      take a few minutes.
      """,
    shouldDisplay: false)

  @Option(help: "Number of customers.") var customers: Int
  @Option(help: "YAML configuration (default: ENTITLED_CONFIG, or the demo configuration).") var config:
    String?
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?

  @Option(help: "Address of the store (default: ENTITLED_STORE, or the data directory).") var store: String?

  @Flag(help: "Write only the rows that Check reads.") var onlyAnswers = false
  @Flag(help: "Write only the sums of reports, of two years.") var onlyReports = false
  @Flag(help: "With --only-reports: write the postings behind the sums, too.") var withPostings = false

  func validate() throws {
    guard customers > 0 else { throw ValidationError("--customers takes a positive number") }
    guard !withPostings || onlyReports else { throw ValidationError("--with-postings needs --only-reports") }
  }

  func run() async throws {
    let file = config ?? ServerOption.environment("ENTITLED_CONFIG")
    let configuration = try Startup.configuration(file: file)
    guard let app = configuration.catalog[SyntheticCustomer.appID] else {
      throw Failure("the configuration has no app '\(SyntheticCustomer.appID)', which the customers use")
    }
    let store = try Startup.store(
      at: store ?? ServerOption.environment("ENTITLED_STORE"), data: ServerOption.data.value(data),
      configuration)
    let now = SystemClock.now()
    do {
      let all = SyntheticCustomers(count: customers, app: app, now: now)
      if onlyReports {
        try await writeReports(of: SyntheticPayers(count: customers, app: app, now: now), to: store)
      } else if onlyAnswers {
        try await writeAnswers(of: all, to: store)
      } else {
        try await write(all, to: store)
      }
      // With a current fingerprint, the service does not evaluate all customers again when it starts.
      try await store.write { transaction throws(StoreError) in
        try transaction.record(CatalogChange(fingerprint: app.fingerprint, at: now), of: app.id)
      }
    } catch {
      throw Failure(error.description)
    }
    await store.close()
  }

  /// Writes customers with their facts, each page in one transaction.
  private func write(
    _ customers: SyntheticCustomers, to store: any EntitlementStore
  ) async throws(StoreError) {
    for first in stride(from: 1, through: customers.count, by: Self.batchSize) {
      let page = first...min(first + Self.batchSize - 1, customers.count)
      try await store.write { transaction throws(StoreError) in
        let evidence = try transaction.append(Self.evidence(of: page, customers.now))
        for number in page { try customers[number].write(to: transaction, evidence.id) }
      }
    }
  }

  /// Writes the answers in the order of their rows, so that each page of the file is written once.
  private func writeAnswers(
    of customers: SyntheticCustomers, to store: any EntitlementStore
  ) async throws(StoreError) {
    let order = (1...customers.count)
      .map { (row: SQLiteEntitlementStore.row(of: customers[$0].key), number: $0) }
      .sorted { $0.row < $1.row }
    for first in stride(from: 0, to: order.count, by: Self.batchSize) {
      let page = order[first..<min(first + Self.batchSize, order.count)]
      try await store.write { transaction throws(StoreError) in
        for (_, number) in page { try customers[number].writeAnswers(to: transaction) }
      }
    }
  }

  /// Writes what became known on each day, packs the sums as those of closed days, and closes all days before today.
  private func writeReports(
    of payers: SyntheticPayers, to store: any EntitlementStore
  ) async throws(StoreError) {
    let today = ReportDay(payers.now)
    if withPostings {
      for span in payers.spans {
        for (day, postings) in await payers.postings(of: span).sorted(by: { $0.key < $1.key }) {
          let new = NewPostings(
            postings, of: SyntheticCustomer.appID, in: .sandbox, knownAt: day.end, knownDay: day,
            cause: .lateNotification)
          try await store.write { transaction throws(StoreError) in try transaction.append([new]) }
          if day < today { try await pack(through: day, in: store) }
        }
      }
    } else {
      for (day, cells) in await payers.cells().sorted(by: { $0.key < $1.key }) {
        try await store.write { transaction throws(StoreError) in
          try transaction.add(cells, known: day, of: SyntheticCustomer.appID, in: .sandbox)
        }
        if day < today { try await pack(through: day, in: store) }
      }
    }
    try await store.write { transaction throws(StoreError) in
      for number in (today.number - SyntheticPayers.days)..<today.number {
        let day = ReportDay(number: number)
        try transaction.close(day, at: day.end, of: SyntheticCustomer.appID, in: .sandbox)
      }
    }
  }

  /// Packs the sums of closed days as the service does.
  private func pack(through day: ReportDay, in store: any EntitlementStore) async throws(StoreError) {
    var hasMore = true
    while hasMore {
      hasMore = try await store.write { transaction throws(StoreError) in
        try transaction.packReports(
          through: day, of: SyntheticCustomer.appID, in: .sandbox, limit: Self.batchSize)
      }
    }
  }

  /// The number of customers, or of sums, in one write.
  private static let batchSize = 5_000

  /// One piece of evidence for a page of customers, on which their facts rest.
  private static func evidence(of numbers: ClosedRange<Int>, _ now: Instant) -> Evidence {
    Evidence(
      appID: SyntheticCustomer.appID, environment: .sandbox, customerID: nil,
      kind: .init(rawValue: "SEED"), source: .init(rawValue: "SEED"), receivedAt: now,
      content: EvidenceContent(hashing: Array("customers \(numbers)".utf8)), verdict: .accepted)
  }
}
