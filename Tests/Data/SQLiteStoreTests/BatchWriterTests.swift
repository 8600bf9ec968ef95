import AppStore
import Entitlements
import Foundation
internal import SQLite
import Store
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct BatchWriterTests {
  @Test("Failed writes and dry runs are rolled back, and the other writes of their batch are committed")
  func mixed() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "batch-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/entitled.sqlite"
    let connection = try Connection.writer(path: path)
    try Schema.create(connection)
    let changes = CustomerVersions()
    let writer = try BatchWriter(connection, changes: changes)
    func count() throws -> Int64 { try SQLiteReader(path: path, changes: changes).counts().evidence }

    let results = Results()
    let plain = [job("a", results), job("b", results), job("c", results)]
    #expect(writer.write(plain) == nil)
    #expect(try count() == 3)

    let failing = [job("d", results), job("e", results, failure: .failed("no")), job("f", results)]
    #expect(writer.write(failing) == nil)
    #expect(try count() == 5)

    let withDryRun = [
      job("g", results), dryRun("h", results), job("i", results, failure: .closed), job("j", results),
    ]
    #expect(writer.write(withDryRun) == nil)
    #expect(try count() == 7)

    #expect(
      results.outcomes == [
        "a": .success(1), "b": .success(2), "c": .success(3), "d": .success(4), "e": .failure(.failed("no")),
        "f": .success(5), "g": .success(6), "h": .success(7), "i": .failure(.closed), "j": .success(7),
      ])
  }

  /// Appends a piece of evidence, and then throws `failure` if there is one.
  private func job(_ name: String, _ results: Results, failure: StoreError? = nil) -> WriteJob {
    WriteJob { transaction throws(StoreError) in
      let id = try append(name, to: transaction)
      if let failure { throw failure }
      return id
    } deliver: {
      results.record(name, $0)
    }
  }

  private func dryRun(_ name: String, _ results: Results) -> WriteJob {
    .dryRun { transaction throws(StoreError) in
      try append(name, to: transaction)
    } deliver: {
      results.record(name, $0)
    }
  }
}

private func append(_ name: String, to transaction: SQLiteTransaction) throws(StoreError) -> Int64 {
  let appended = try transaction.append(
    Evidence(
      appID: "ocean", environment: nil, customerID: nil, kind: .signedTransaction, source: .submission,
      receivedAt: Instant(millisecondsSince1970: 0), content: EvidenceContent(Array(name.utf8)),
      verdict: .accepted))
  return appended.id.rawValue
}

/// Collects the results that the callers received.
private final class Results: Sendable {
  private let all = Mutex<[String: Result<Int64, StoreError>]>([:])

  var outcomes: [String: Result<Int64, StoreError>] { all.withLock { $0 } }

  func record(_ name: String, _ outcome: Result<Int64, StoreError>) { all.withLock { $0[name] = outcome } }
}
