import AppStore
import Entitlements
import Foundation
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct SQLiteEntitlementStoreTests {
  private let directory = FileManager.default.temporaryDirectory
    .appending(path: "sqlite-\(UUID())").path
  private let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  @Test("Opening creates the directory and its parents with access for this user only")
  func directoryMode() async throws {
    defer { remove() }
    let nested = directory + "/a/b"
    let store = try SQLiteEntitlementStore(directory: nested)
    let mode = try FileManager.default.attributesOfItem(atPath: nested)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    await store.close()
  }

  @Test("Files are accessible by this user only, even in a directory that others can read")
  func fileModes() async throws {
    defer { remove() }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let store = try SQLiteEntitlementStore(directory: directory)
    try await store.write { [key] transaction throws(StoreError) in
      try transaction.putFacts(CustomerFacts(), answers: answers(to: CustomerFacts()), of: key)
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/" + file)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
    }
    await store.close()
  }

  @Test("An unusable directory is reported with its path and the system's reason")
  func unusableDirectory() throws {
    defer { remove() }
    try Data("x".utf8).write(to: URL(filePath: directory))
    #expect {
      try SQLiteEntitlementStore(directory: directory + "/data")
    } throws: { error in
      guard case .cannotOpen(let path, let reason) = error as? StoreError else { return false }
      return path == directory + "/data" && reason.hasPrefix("Not a directory")
    }
  }

  @Test("An open store cannot be opened again until it is closed")
  func exclusive() async throws {
    defer { remove() }
    do {
      let store = try SQLiteEntitlementStore(directory: directory)
      #expect(throws: StoreError.inUse(path: directory)) {
        try SQLiteEntitlementStore(directory: directory)
      }
      await store.close()
    }
    let again = try SQLiteEntitlementStore(directory: directory)
    await again.close()
  }

  @Test("Committed data is present after reopening")
  func persistence() async throws {
    defer { remove() }
    let facts = CustomerFacts(transactions: [transaction()])
    do {
      let store = try SQLiteEntitlementStore(directory: directory)
      try await store.write { [key] transaction throws(StoreError) in
        try transaction.putFacts(facts, answers: answers(to: facts), of: key)
      }
      await store.close()
    }
    let store = try SQLiteEntitlementStore(directory: directory)
    #expect(try await store.snapshot { try $0.facts(of: key) } == facts)
    await store.close()
  }

  @Test("A store with a newer schema is rejected with both versions")
  func newerSchema() async throws {
    defer { remove() }
    do {
      let store = try SQLiteEntitlementStore(directory: directory)
      await store.close()
    }
    // Byte 60 of the file begins the big-endian schema version (`user_version`).
    let file = try FileHandle(forUpdating: URL(filePath: directory + "/entitled.sqlite"))
    try file.seek(toOffset: 60)
    try file.write(contentsOf: Data([0, 0, 0, UInt8(Schema.version + 1)]))
    try file.close()
    #expect(throws: StoreError.newerSchema(found: Schema.version + 1, supported: Schema.version)) {
      try SQLiteEntitlementStore(directory: directory)
    }
  }

  @Test("A file that is not a database is reported as corrupt")
  func notADatabase() throws {
    defer { remove() }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(repeating: 7, count: 8192).write(to: URL(filePath: directory + "/entitled.sqlite"))
    #expect(throws: StoreError.corrupt("file is not a database")) {
      try SQLiteEntitlementStore(directory: directory)
    }
  }

  @Test("A write beyond the queue's capacity is rejected as overloaded and does not run")
  func overloaded() async throws {
    defer { remove() }
    let store = try SQLiteEntitlementStore(directory: directory, capacity: 4, batchSize: 2)
    let outcomes = await withTaskGroup(of: StoreError?.self) { group in
      for number in 0..<200 {
        group.addTask { [key] in
          do throws(StoreError) {
            try await store.write { transaction throws(StoreError) in
              let customer = CustomerKey(
                appID: key.appID, environment: key.environment, customerID: "c\(number)")
              let facts = CustomerFacts()
              try transaction.putFacts(facts, answers: answers(to: facts), of: customer)
            }
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let written = outcomes.count { $0 == nil }
    #expect(outcomes.allSatisfy { $0 == nil || $0 == .overloaded(waiting: 4) })
    #expect(try await store.snapshot { try $0.counts() }.customers == Int64(written))
    await store.close()
  }

  private func remove() { try? FileManager.default.removeItem(atPath: directory) }

  private func transaction() -> TransactionFact {
    TransactionFact(
      transactionID: "1", originalTransactionID: "1", productID: "lifetime", type: .nonConsumable,
      purchaseDate: Instant(millisecondsSince1970: 1), signedDate: Instant(millisecondsSince1970: 2))
  }
}

/// Returns the answers under a catalog without products.
private func answers(to facts: CustomerFacts) -> PrecomputedAnswers {
  let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [])
  return PrecomputedAnswers(facts, in: app, from: Instant(millisecondsSince1970: 1))
}
