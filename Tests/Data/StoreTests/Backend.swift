import AppStore
import Entitlements
import Foundation
import PostgresStore
import PostgresSupport
import Store
import TestSupport

@testable import SQLStore
@testable import SQLiteStore

/// The implementations of the store under test. Each contract test runs for every case.
enum Backend: CaseIterable {
  /// PostgreSQL only where it is installed.
  static var allCases: [Backend] {
    [.sqlite, .sqliteWithCollisions] + (PostgresServer.canRun ? [.postgres] : [])
  }

  case sqlite
  /// SQLite with one hash for all customers.
  case sqliteWithCollisions
  case postgres

  /// Runs `body` with an empty store.
  func withStore(
    reads: ReaderPool.Limits = .init(), _ body: (any EntitlementStore) async throws -> Void
  ) async throws {
    guard self != .postgres else { return try await withPostgresStore(reads: reads, body) }
    let directory = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store =
      if self == .sqlite {
        try SQLiteEntitlementStore(directory: directory.path, reads: reads, hash: CustomerIdentity.hash)
      } else {
        try SQLiteEntitlementStore(directory: directory.path, reads: reads, hash: { _ in .max })
      }
    try await body(store)
    await store.close()
  }

  /// Runs `body` with a function that opens the store at one place, as each process does that uses it.
  func withPlace(
    _ body: (_ open: () throws(StoreError) -> any EntitlementStore) async throws -> Void
  ) async throws {
    guard self != .postgres else {
      return try await PostgresSlots.shared.run {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        defer { try? server.removeDatabase(database) }
        let settings = server.settings(database)
        try await body { () throws(StoreError) in try PostgresEntitlementStore(settings) }
      }
    }
    let directory = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let collides = self == .sqliteWithCollisions
    try await body { () throws(StoreError) in
      guard collides else { return try SQLiteEntitlementStore(directory: directory.path) }
      return try SQLiteEntitlementStore(directory: directory.path, hash: { _ in .max })
    }
  }

  private func withPostgresStore(
    reads: ReaderPool.Limits, _ body: (any EntitlementStore) async throws -> Void
  ) async throws {
    try await PostgresSlots.shared.run {
      let server = try PostgresServer.shared()
      let database = try server.makeDatabase()
      defer { try? server.removeDatabase(database) }
      let store = try PostgresEntitlementStore(server.settings(database), reads: reads)
      try await body(store)
      await store.close()
    }
  }
}

func instant(_ milliseconds: Int64) -> Instant { Instant(millisecondsSince1970: milliseconds) }

/// An app that sells `pro` without expiry, and has no product for `plus`.
let app = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
  environments: [.sandbox],
  products: [
    ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"]),
    ProductDefinition(productID: "plus", type: .nonConsumable, entitlements: ["plus"]),
  ])

let customer = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

func line(_ number: String = "L1", _ environment: AppStore.Environment = .sandbox) -> LineKey {
  LineKey(appID: "ocean", environment: environment, lineID: number)
}

func evidence(
  _ text: String, of customerID: String? = "ana", _ verdict: Evidence.Verdict = .accepted,
  body: Bool = true
) -> Evidence {
  return Evidence(
    appID: "ocean", environment: .sandbox, customerID: customerID, kind: .signedTransaction,
    source: .submission, receivedAt: Instant(millisecondsSince1970: 5),
    content: EvidenceContent(Array(text.utf8), keepingAtMost: body ? 100 : 0),
    verdict: verdict)
}

func fact(
  _ id: String = "T1", line: String = "L1", signed: Int64 = 10, revoked: Instant? = nil
) -> TransactionFact {
  TransactionFact(
    transactionID: id, originalTransactionID: line, productID: "pro", type: .nonConsumable,
    purchaseDate: Instant(millisecondsSince1970: 1), revocationDate: revoked,
    signedDate: Instant(millisecondsSince1970: signed))
}

func renewal(signed: Int64) -> RenewalFact {
  RenewalFact(
    originalTransactionID: "L1", productID: "pro", signedDate: Instant(millisecondsSince1970: signed))
}

// Writes of one step, for tests that need no larger transaction.
extension EntitlementStore {
  func append(_ evidence: Evidence) async throws(StoreError) -> AppendedEvidence {
    try await write { transaction throws(StoreError) in try transaction.append(evidence) }
  }

  func put(
    _ facts: CustomerFacts, of customer: CustomerKey = customer, from start: Instant = instant(0)
  ) async throws(StoreError) {
    try await write { transaction throws(StoreError) in
      let answers = PrecomputedAnswers(facts, in: app, from: start)
      try transaction.putFacts(facts, answers: answers, of: customer)
    }
  }
}

func gain(_ line: LineKey, _ customerID: String, _ evidence: EvidenceID, at: Int64 = 1) -> OwnershipChange {
  OwnershipChange(line: line, customerID: customerID, gained: true, at: instant(at), evidenceID: evidence)
}

func loss(_ line: LineKey, _ customerID: String, _ evidence: EvidenceID, at: Int64 = 2) -> OwnershipChange {
  OwnershipChange(line: line, customerID: customerID, gained: false, at: instant(at), evidenceID: evidence)
}
