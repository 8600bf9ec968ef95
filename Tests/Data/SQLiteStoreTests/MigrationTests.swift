import AppStore
import Entitlements
import Foundation
internal import SQLite
import Store
import Testing

@testable import SQLiteStore

/// A store of the first schema becomes one of today, and forgets nothing.
@Suite struct MigrationTests {
  @Test("Owners, evidence and customers of a first store are there, and everybody is due")
  func firstSchema() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
    let facts = CustomerFacts(transactions: [transaction])
    try writeFirstStore(directory + "/entitled.sqlite", ana, facts)

    let store = try SQLiteEntitlementStore(directory: directory)
    let reader = try store.makeReader()
    let line = ana.line("1")
    #expect(try reader.owners(of: line) == ["ana"])
    #expect(try reader.ownershipChanges(of: ana).map(\.at) == [moment(7)])
    #expect(try reader.facts(of: ana) == facts)
    #expect(try reader.evidence(about: line).map(\.evidence.customerID) == ["ana"])
    #expect(try reader.nextDue() == moment(0))
    reader.endTurn()
    try await store.write { store throws(StoreError) in
      #expect(try store.due(by: moment(1), limit: 9) == [ana])
      #expect(try store.evidence(naming: ana).count == 1)
    }
    await store.close()
  }

  @Test("What was in four tables of a purchase line is in one, and reads as before")
  func linesInOnePlace() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let connection = try Connection.writer(path: directory + "/entitled.sqlite")
    try Schema.migrate(connection, to: 12)
    try connection.execute(
      """
      INSERT INTO evidence (
        evidence_id, app, environment, customer_id, kind, source, received_at, content_hash, size, rejection)
        VALUES (5, 'ocean', 'Sandbox', '', 'K', 'S', 7, x'00', 1, ''),
          (10, 'ocean', 'Sandbox', '', 'K', 'S', 8, x'01', 1, '');
      INSERT INTO transaction_fact VALUES
        ('1', 'ocean', 'Sandbox', '2', x'02', 10, 'pro', 99), ('1', 'ocean', 'Sandbox', '1', x'01', 5, NULL, NULL),
        ('0', 'ocean', 'Sandbox', '0', x'00', 5, NULL, NULL);
      INSERT INTO renewal_fact VALUES ('1', 'ocean', 'Sandbox', x'03', 10);
      INSERT INTO line_evidence VALUES ('1', 'ocean', 'Sandbox', 10), ('1', 'ocean', 'Sandbox', 5);
      INSERT INTO poll VALUES ('1', 'ocean', 'Sandbox', 1000, NULL), ('0', 'ocean', 'Sandbox', 2000, 500);
      """)
    let tables = [
      "transaction_fact ORDER BY original_transaction_id, transaction_id", "renewal_fact", "poll ORDER BY at",
      "line_evidence ORDER BY evidence_id",
    ]
    func contents() throws -> [[[UInt8]]] {
      try tables.map { table in
        let select = try Statement("SELECT * FROM \(table)", on: connection)
        defer { select.reset() }
        var values: [[UInt8]] = []
        while try select.step() { for column in 0..<5 { values.append(select.bytes(CInt(column))) } }
        return values
      }
    }
    let before = try contents()
    try Schema.migrate(connection)
    #expect(try contents() == before)
    #expect(try connection.number("SELECT count(*) FROM line_record") == 8)
    #expect(try connection.number("SELECT count(*) FROM pragma_foreign_key_check") == 0)

    let line = LineKey(appID: "ocean", environment: .sandbox, originalTransactionID: "1")
    let poll = try PollRows(connection)
    #expect(try poll.record(line, at: moment(600)))
    try poll.schedule(line, at: moment(3_000))
    #expect(try poll.lastPoll(of: line) == moment(600))
    try poll.schedule(line, at: nil)
    #expect(try connection.number("SELECT count(*) FROM poll") == 1)
  }

  private let transaction = TransactionFact(
    transactionID: "1", originalTransactionID: "1", productID: "lifetime", type: .nonConsumable,
    purchaseDate: Instant(millisecondsSince1970: 1), signedDate: Instant(millisecondsSince1970: 2))

  /// What the first version of the program wrote for one purchase.
  private func writeFirstStore(_ path: String, _ customer: CustomerKey, _ facts: CustomerFacts) throws {
    let connection = try Connection.writer(path: path)
    try Schema.migrate(connection, to: 1)
    try connection.execute(
      """
      INSERT INTO evidence VALUES (
        5, 'ocean', 'Sandbox', 'ana', 'SIGNED_TRANSACTION', 'SUBMISSION', 7, x'00', 1, x'61', '');
      INSERT INTO line_owner VALUES ('1', 'ocean', 'Sandbox', 'ana', 5);
      """)
    let fact = try Statement(
      "INSERT INTO transaction_fact VALUES ('1', 'ocean', 'Sandbox', '1', ?, 5)", on: connection)
    try fact.bind(1, FactCoding.encode(transaction))
    try fact.run()
    let app = AppDefinition(
      id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
      environments: [.sandbox], products: [])
    let row = try Statement("INSERT INTO customer VALUES (?, ?, ?, ?)", on: connection)
    try row.bind(1, CustomerIdentity.hash(customer))
    try row.bind(2, CustomerIdentity.encode(customer))
    try row.bind(3, AnswerCoding.encode(PrecomputedAnswers(facts, in: app, from: moment(3))))
    try row.bind(4, FactCoding.encode(facts))
    try row.run()
  }

  private func moment(_ milliseconds: Int64) -> Instant { Instant(millisecondsSince1970: milliseconds) }
}
