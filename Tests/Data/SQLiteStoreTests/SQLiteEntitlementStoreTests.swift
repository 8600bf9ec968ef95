import AppStore
import Entitlements
import Foundation
import Store
import Testing

@testable import SQLiteStore

@Suite struct SQLiteEntitlementStoreTests {
  private let directory = FileManager.default.temporaryDirectory
    .appending(path: "sqlite-\(UUID())").path
  private let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  @Test("The directory is made for this user alone, with what is missing above it")
  func directoryMode() async throws {
    defer { remove() }
    let nested = directory + "/a/b"
    let store = try SQLiteEntitlementStore(directory: nested)
    let mode = try FileManager.default.attributesOfItem(atPath: nested)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    await store.close()
  }

  @Test("The files are for this user alone, also in a directory that others may look into")
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

  @Test("A directory that cannot be used is named with the system's reason")
  func unusableDirectory() throws {
    defer { remove() }
    try Data("x".utf8).write(to: URL(filePath: directory))
    #expect {
      try SQLiteEntitlementStore(directory: directory + "/data")
    } throws: { error in
      guard case .cannotOpen(let path, let reason) = error as? StoreError else { return false }
      return path == directory + "/data" && reason == "Not a directory"
    }
  }

  @Test("A store that is open is refused to everybody else, until it is let go of")
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

  @Test("What was written is there after opening again")
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
    #expect(try store.makeReader().facts(of: key) == facts)
    await store.close()
  }

  @Test("A store of a newer schema is refused by both versions")
  func newerSchema() async throws {
    defer { remove() }
    do {
      let store = try SQLiteEntitlementStore(directory: directory)
      await store.close()
    }
    // The schema's version is the big-endian number at byte 60 of the file.
    let file = try FileHandle(forUpdating: URL(filePath: directory + "/entitled.sqlite"))
    try file.seek(toOffset: 60)
    try file.write(contentsOf: Data([0, 0, 0, UInt8(Schema.version + 1)]))
    try file.close()
    #expect(throws: StoreError.newerSchema(found: Schema.version + 1, supported: Schema.version)) {
      try SQLiteEntitlementStore(directory: directory)
    }
  }

  @Test("A file that is no database is reported as damaged")
  func notADatabase() throws {
    defer { remove() }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(repeating: 7, count: 8192).write(to: URL(filePath: directory + "/entitled.sqlite"))
    #expect(throws: StoreError.corrupt("file is not a database")) {
      try SQLiteEntitlementStore(directory: directory)
    }
  }

  @Test("When too many wait, the next one is told so and nothing of it is done")
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
    #expect(try store.makeReader().counts().customers == Int64(written))
    await store.close()
  }

  private func remove() { try? FileManager.default.removeItem(atPath: directory) }

  private func transaction() -> TransactionFact {
    TransactionFact(
      transactionID: "1", originalTransactionID: "1", productID: "lifetime", type: .nonConsumable,
      purchaseDate: Instant(millisecondsSince1970: 1), signedDate: Instant(millisecondsSince1970: 2))
  }
}

/// The answers of an app that sells nothing.
private func answers(to facts: CustomerFacts) -> PrecomputedAnswers {
  let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [])
  return PrecomputedAnswers(facts, in: app, from: Instant(millisecondsSince1970: 1))
}
