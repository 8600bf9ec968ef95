import AppStore
import Entitlements
import Foundation
import PostgreSQL
import PostgresSupport
import SQLStore
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import PostgresStore

/// Copies between the engines, and reads of tables that are larger than one page of a cursor.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct StoreCopyTests {
  @Test("A copy to PostgreSQL and back keeps every row, also of tables larger than a page")
  func roundTrip() async throws {
    try await withDatabase { settings in
      let directory = FileManager.default.temporaryDirectory.appending(path: "copy-\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let store = try SQLiteEntitlementStore(directory: directory + "/first")
      try await store.write { transaction throws(StoreError) in
        for number in 0..<2_500 { _ = try transaction.append(Self.evidence("number \(number)")) }
      }
      let hash = try store.stateHash()
      await store.close()
      let first = try StoreCopy.run(
        from: StoreFile(directory: directory + "/first").connection, to: PostgresCopyTarget(settings)
      ) { _ in }
      #expect(first.stateHash == hash)
      #expect(first.tables.first { $0.table == "evidence" }?.rows == 2_500)
      let inspected = try PostgresStoreInspection(settings)
      #expect(try inspected.faults().isEmpty)
      #expect(try inspected.statistics().counts.evidence == 2_500)
      let second = try StoreCopy.run(
        from: inspected.connection, to: SQLiteCopyTarget(directory: directory + "/second")
      ) { _ in }
      #expect(second.tables == first.tables)
      let reopened = try SQLiteEntitlementStore(directory: directory + "/second")
      #expect(try reopened.stateHash() == hash)
      await reopened.close()
    }
  }

  @Test("A copy that fails leaves no store, and the next one succeeds")
  func interrupted() async throws {
    try await withDatabase { settings in
      let directory = FileManager.default.temporaryDirectory.appending(path: "copy-\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let store = try SQLiteEntitlementStore(directory: directory)
      try await store.write { transaction throws(StoreError) in
        _ = try transaction.append(Self.evidence("one"))
      }
      await store.close()
      let source = try StoreFile(directory: directory).connection
      let target = try PostgresCopyTarget(settings)
      #expect(throws: StoreError.failed("broken")) {
        try target.append(to: TableDefinition.withData[0]) { () throws(StoreError) in throw .failed("broken")
        }
      }
      try target.connection.execute("ROLLBACK")
      _ = try StoreCopy.run(from: source, to: PostgresCopyTarget(settings)) { _ in }
      #expect(throws: StoreError.self) { try PostgresCopyTarget(settings) }
    }
  }

  @Test("A copy whose source is not confirmed at its end leaves no store")
  func unconfirmed() async throws {
    try await withDatabase { settings in
      let directory = FileManager.default.temporaryDirectory.appending(path: "copy-\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let store = try PostgresEntitlementStore(settings)
      try await store.write { transaction throws(StoreError) in
        _ = try transaction.append(Self.evidence("one"))
      }
      let inspected = try PostgresStoreInspection(settings)
      #expect(throws: StoreError.failed("used")) {
        try StoreCopy.run(
          from: inspected.connection, to: SQLiteCopyTarget(directory: directory),
          confirm: { () throws(StoreError) in throw .failed("used") }, report: { _ in })
      }
      #expect(!FileManager.default.fileExists(atPath: directory + "/entitled.sqlite"))
      await store.close()
    }
  }

  @Test("The customers that rows name are read with a cursor, not all at once")
  func namedCustomers() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let cursors = try await store.write { transaction throws(StoreError) in
        let stored = try transaction.append(Self.evidence("one"))
        let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
        for number in 0..<1_500 {
          try transaction.record(
            OwnershipChange(
              line: line, customerID: "customer \(number)", gained: true,
              at: Instant(millisecondsSince1970: Int64(number)), evidenceID: stored.id))
        }
        var (cursors, names): ([Int64], Set<String>) = ([], [])
        let database = transaction.sqlConnection as? PostgresDatabase
        try transaction.forEachNamedCustomer { customer in
          names.insert(customer.customerID)
          guard names.count == 1 || names.count == 1_500 else { return }
          cursors.append(
            (try? database?.connection.number(
              "SELECT count(*) FROM pg_cursors WHERE name LIKE 'scan%' AND statement LIKE '%UNION%'")) ?? -1)
        }
        return cursors
      }
      #expect(cursors == [1, 1])
      await store.close()
    }
  }

  private static func evidence(_ text: String) -> Evidence {
    Evidence(
      appID: "ocean", environment: .sandbox, customerID: "ana", kind: .signedTransaction, source: .submission,
      receivedAt: Instant(millisecondsSince1970: 5),
      content: EvidenceContent(Array(text.utf8), keepingAtMost: 100), verdict: .accepted)
  }
}
