import AppStore
import Entitlements
import Foundation
internal import SQLite
import Store
import Synchronization
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite final class BatchWriterTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "batch-\(UUID())").path
  private let path: String
  private let changes = CustomerVersions()
  private let connection: Connection
  private let writer: BatchWriter

  init() throws {
    path = directory + "/entitled.sqlite"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    connection = try Connection.writer(path: path)
    try Schema.create(connection)
    writer = try BatchWriter(connection, changes: changes)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  private func count() throws -> Int64 {
    let reader = try makeReader(Connection.reader(path: path), changes: changes)
    return try #require(reader as? any StoreSnapshot).counts().evidence
  }

  @Test("Failed writes and dry runs are rolled back, and the other writes of their batch are committed")
  func mixed() throws {
    let results = Results()
    let plain = [job("a", results), job("b", results), job("c", results)]
    #expect(writer.write(plain).failure == nil)
    #expect(try count() == 3)

    let failing = [job("d", results), job("e", results, failure: .failed("no")), job("f", results)]
    #expect(writer.write(failing).failure == nil)
    #expect(try count() == 5)

    let withDryRun = [
      job("g", results), dryRun("h", results), job("i", results, failure: .closed), job("j", results),
    ]
    #expect(writer.write(withDryRun).failure == nil)
    #expect(try count() == 7)

    #expect(
      results.outcomes == [
        "a": .success(1), "b": .success(2), "c": .success(3), "d": .success(4), "e": .failure(.failed("no")),
        "f": .success(5), "g": .success(6), "h": .success(7), "i": .failure(.closed), "j": .success(7),
      ])
  }

  @Test("A dry run leaves the other writes of its batch alone")
  func dryRunAmongOthers() throws {
    let results = Results()
    #expect(writer.write([job("a", results), dryRun("b", results), job("c", results)]).failure == nil)
    #expect(try count() == 2)
    #expect(results.outcomes == ["a": .success(1), "b": .success(2), "c": .success(2)])
    #expect(results.runs == ["a": 1, "b": 1, "c": 1])
  }

  @Test("Writes that arrive while a batch runs join its commit, also if one of them fails")
  func arrivals() throws {
    let results = Results()
    var later = [
      [job("b", results), job("c", results)], [job("d", results, failure: .closed)], [job("e", results)],
    ]
    let first = writer.write([job("a", results)]) { later.isEmpty ? [] : later.removeFirst() }
    #expect(first.count == 4 && first.failure == nil)
    #expect(try count() == 3)
    #expect(
      results.outcomes == ["a": .success(1), "b": .success(2), "c": .success(3), "d": .failure(.closed)])
    // After the failure all run again, and nothing more joins them.
    #expect(later.count == 1)
  }

  @Test("The time at which evidence became known never goes back, with any rollbacks around it")
  func knownAt() throws {
    let results = Results()
    let batch = [
      job("a", results, at: 50), job("b", results, at: 90, failure: .closed), dryRun("c", results, at: 99),
      job("d", results, at: 70), job("e", results, at: 60),
    ]
    #expect(writer.write(batch).failure == nil)
    let next = try BatchWriter(connection, changes: changes)
    #expect(next.write([job("f", results, at: 10)]).failure == nil)
    #expect(results.knownAt == ["a": 50, "b": 90, "c": 99, "d": 70, "e": 70, "f": 70])
  }

  /// Appends a piece of evidence, and then throws `failure` if there is one.
  private func job(
    _ name: String, _ results: Results, at instant: Int64 = 0, failure: StoreError? = nil
  ) -> WriteJob {
    WriteJob { transaction throws(StoreError) in
      let id = try append(name, to: transaction, at: instant, results)
      if let failure { throw failure }
      return id
    } deliver: {
      results.record(name, $0)
    }
  }

  private func dryRun(_ name: String, _ results: Results, at instant: Int64 = 0) -> WriteJob {
    .dryRun { transaction throws(StoreError) in
      try append(name, to: transaction, at: instant, results)
    } deliver: {
      results.record(name, $0)
    }
  }
}

private func append(
  _ name: String, to transaction: any StoreTransaction, at instant: Int64, _ results: Results
) throws(StoreError) -> Int64 {
  let appended = try transaction.append(
    Evidence(
      appID: "ocean", environment: nil, customerID: nil, kind: .signedTransaction, source: .submission,
      receivedAt: Instant(millisecondsSince1970: instant), content: EvidenceContent(Array(name.utf8)),
      verdict: .accepted))
  results.recordRun(of: name, knownAt: appended.knownAt)
  return appended.id.rawValue
}

/// Collects the results that the callers received.
private final class Results: Sendable {
  private let all = Mutex<[String: Result<Int64, StoreError>]>([:])

  var outcomes: [String: Result<Int64, StoreError>] { all.withLock { $0 } }

  func record(_ name: String, _ outcome: Result<Int64, StoreError>) { all.withLock { $0[name] = outcome } }

  private let allRuns = Mutex<[String: (count: Int, knownAt: Int64)]>([:])

  /// The number of runs of each body.
  var runs: [String: Int] { allRuns.withLock { $0.mapValues(\.count) } }

  /// When the evidence of each body became known, in its last run.
  var knownAt: [String: Int64] { allRuns.withLock { $0.mapValues(\.knownAt) } }

  func recordRun(of name: String, knownAt: Instant) {
    allRuns.withLock { runs in
      runs[name] = ((runs[name]?.count ?? 0) + 1, knownAt.millisecondsSince1970)
    }
  }
}
