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
      StoreStatsCommand.self, StoreReplayCommand.self, StoreExportCommand.self, StoreSeedCommand.self,
    ])
}

/// `entitled store stats`: how much there is.
struct StoreStatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Count what a stopped service remembers.")

  @Option(help: "The data directory (default: \(Setting.data.fallback)).") var data: String?

  func run() async throws {
    let store = try Startup.store(in: Setting.data.value(data))
    let counts: StoreCounts
    do {
      counts = try store.makeReader().counts()
    } catch {
      throw Failure(error.description)
    }
    await store.close()
    print(
      Table.aligned([
        ("customers", "\(counts.customers)"), ("transactions", "\(counts.transactions)"),
        ("renewals", "\(counts.renewals)"), ("evidence", "\(counts.evidence)"),
        ("of it rejected", "\(counts.rejectedEvidence)"), ("events", "\(counts.events)"),
      ]))
  }
}

/// `entitled store seed`: a store full of invented customers, for benchmarks.
struct StoreSeedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seed", abstract: "Fill an empty store with invented customers, for benchmarks.",
    discussion: """
      Customers are called customer-0000001 and so on. Each has a yearly subscription of the demo app \
      with one to three periods, of which the last is running. They rest on no signed document.
      """,
    shouldDisplay: false)

  @Option(help: "How many customers.") var customers: Int
  @Option(help: "A YAML file with apps and products; without it, the demo app.") var config: String?
  @Option(help: "The data directory (default: \(Setting.data.fallback)).") var data: String?

  func run() async throws {
    let file = config ?? Setting.environment("ENTITLED_CONFIG")
    guard let app = try Startup.configuration(file: file).catalog[SeededCustomer.appID] else {
      throw Failure("the configuration has no app \(SeededCustomer.appID), which the customers belong to")
    }
    let store = try Startup.store(in: Setting.data.value(data))
    let now = SystemClock.now()
    do {
      for first in stride(from: 1, through: customers, by: Self.batch) {
        let numbers = first...min(first + Self.batch - 1, customers)
        try await store.write { transaction throws(StoreError) in
          let evidence = try transaction.append(Self.evidence(of: numbers, now))
          for number in numbers {
            try SeededCustomer(number: number, app: app, now: now).write(to: transaction, evidence.id)
          }
        }
      }
    } catch {
      throw Failure(error.description)
    }
    await store.close()
  }

  private static let batch = 5_000

  private static func evidence(of numbers: ClosedRange<Int>, _ now: Instant) -> Evidence {
    Evidence(
      appID: SeededCustomer.appID, environment: .sandbox, customerID: nil,
      kind: .init(rawValue: "SEED"), source: .init(rawValue: "SEED"), receivedAt: now,
      content: EvidenceContent(Array("customers \(numbers)".utf8)), verdict: .accepted)
  }
}

/// An invented customer.
struct SeededCustomer {
  static let appID = "ocean-journal"

  let number: Int
  let app: AppDefinition
  let now: Instant

  func write(to store: any StoreTransaction, _ evidence: EvidenceID) throws(StoreError) {
    let digits = String(number)
    let id = "customer-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    let key = CustomerKey(appID: Self.appID, environment: .sandbox, customerID: id)
    let line = LineKey(
      appID: Self.appID, environment: .sandbox,
      originalTransactionID: String(2_000_000_000_000_000 + number * 10))
    for transaction in transactions(of: line) { _ = try store.put(transaction, of: line, from: evidence) }
    _ = try store.put(renewal(of: line), of: line, from: evidence)
    try store.relate(evidence, to: line)
    try store.record(
      OwnershipChange(line: line, customerID: id, gained: true, at: now, evidenceID: evidence))
    let facts = try store.facts(of: line)
    try store.putFacts(facts, answers: CustomerAnswers(facts, in: app, from: now), of: key)
  }

  /// Periods of a year, the last of which began thirty days ago.
  private func transactions(of line: LineKey) -> [TransactionFact] {
    let count = 1 + number % 3
    return (0..<count).map { index in
      let start = now.advanced(byMilliseconds: Int64(index + 1 - count) * Self.year - 30 * Self.day)
      return TransactionFact(
        transactionID: String(2_000_000_000_000_000 + number * 10 + index),
        originalTransactionID: line.originalTransactionID, productID: "pro.yearly",
        type: .autoRenewableSubscription, purchaseDate: start,
        expiresDate: start.advanced(byMilliseconds: Self.year), signedDate: start)
    }
  }

  private func renewal(of line: LineKey) -> RenewalFact {
    RenewalFact(
      originalTransactionID: line.originalTransactionID, productID: "pro.yearly",
      autoRenewProductID: "pro.yearly", autoRenewStatus: .on, signedDate: now)
  }

  private static let day: Int64 = 86_400_000
  private static let year: Int64 = 365 * day
}
