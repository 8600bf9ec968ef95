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

  private static func evidence(_ text: String) -> Evidence {
    Evidence(
      appID: "ocean", environment: .sandbox, customerID: "ana", kind: .signedTransaction, source: .submission,
      receivedAt: Instant(millisecondsSince1970: 5),
      content: EvidenceContent(Array(text.utf8), keepingAtMost: 100), verdict: .accepted)
  }
}
