import AppStore
import Entitlements
import Foundation
import HTTP
import Ledger
import RPC
import SQLiteStore
import Store
import TestSupport
import Testing
import Wire

@testable import Services

@Suite("The store reader of an event loop")
struct EventLoopReaderTests {
  private let health = HealthService(services: Contract.services.map(\.name))

  @Test("Check and BatchCheck fail with UNAVAILABLE and a reason while the event loop has no reader")
  func missingReader() async throws {
    try await withStore { store in
      var failures = 2
      let missing = MissingReaders()
      let reader = EventLoopReader(missing) { () throws(StoreError) in
        guard failures == 0 else {
          failures -= 1
          throw .cannotOpen(path: "entitled.db", reason: "too many open files")
        }
        return try store.makeCheckReader()
      }
      let methods = table(reader, store)
      #expect(missing.count == 1)

      let status = try #require(failure(of: "Check", in: methods))
      #expect(status.code == .unavailable && status.errorInfo?.reason == "STORE_UNAVAILABLE")
      #expect(result(of: "BatchCheck", in: methods)?.error?.code == Int32(StatusCode.unavailable.rawValue))

      #expect(!reader.recover(), "the second attempt fails too")
      #expect(reader.recover())
      #expect(missing.count == 0 && failure(of: "Check", in: methods) == nil)
      #expect(result(of: "BatchCheck", in: methods)?.response?.entitlement?.name == "pro")
    }
  }

  @Test("The service is not ready while an event loop has no reader")
  func readiness() async throws {
    try await withStore { store in
      var isFailing = true
      let missing = MissingReaders()
      let reader = EventLoopReader(missing) { () throws(StoreError) in
        guard !isFailing else { throw .cannotOpen(path: "entitled.db", reason: "too many open files") }
        return try store.makeCheckReader()
      }
      let monitor = HealthMonitor(
        store: store, health: health, maxDelay: .seconds(3600), missingReaders: missing,
        logger: LogLines().logger
      ) { 1 << 40 }
      await monitor.begin()
      #expect(!monitor.isReady)
      #expect(monitor.results.filter { $0.problem != nil }.map(\.dependency) == [.storeReadable])
      isFailing = false
      #expect(reader.recover())
      await monitor.check()
      #expect(monitor.isReady)
    }
  }

  @Test("A batch of more than 64 checks is answered by the reader pool, with the same results")
  func largeBatch() async throws {
    try await withStore { store in
      let reader = EventLoopReader(MissingReaders()) { () throws(StoreError) in try store.makeCheckReader() }
      let methods = table(reader, store)
      func results(_ count: Int) async throws -> (isDeferred: Bool, results: [CheckResult]) {
        var checks = Array(repeating: request, count: count)
        checks[1].entitlement = "unknown"
        let batch = BatchCheckRequest.with { $0.checks = checks }
        let result = try #require(call("BatchCheck", batch.encodedBytes(), in: methods))
        return (result.isDeferred, try BatchCheckResponse.decode(try await result.message()).results)
      }
      let (small, large) = (try await results(64), try await results(65))
      #expect(!small.isDeferred && large.isDeferred)
      #expect(small.results == large.results.dropLast())
      #expect(large.results[1].error?.code == Int32(StatusCode.notFound.rawValue))
      #expect(large.results[64].response?.entitlement?.name == "pro")
    }
  }

  @Test(
    "The facts of a large customer are evaluated by the reader pool, those of a small one on the event loop")
  func staleCustomers() async throws {
    try await withStore { store in
      try await store.putStale(transactions: CustomerFacts.reductionThreshold + 1, of: "ana")
      try await store.putStale(transactions: 3, of: "ben")
      let reader = EventLoopReader(MissingReaders()) { () throws(StoreError) in try store.makeCheckReader() }
      let methods = table(reader, store)
      for (customer, isDeferred) in [("ana", true), ("ben", false), ("unknown", false)] {
        var check = request
        check.customerId = customer
        let batch = BatchCheckRequest.with { $0.checks = [check, check] }
        let result = try #require(call("Check", check.encodedBytes(), in: methods))
        let results = try #require(call("BatchCheck", batch.encodedBytes(), in: methods))
        reader.endTick()
        #expect(result.isDeferred == isDeferred && results.isDeferred == isDeferred)
        let response = try CheckResponse.decode(try await result.message()).entitlement
        #expect(response?.entitled == (customer != "unknown"))
        let all = try BatchCheckResponse.decode(try await results.message())
        #expect(
          all.results.map(\.response?.entitlement?.entitled) == [response?.entitled, response?.entitled])
      }
    }
  }

  private func table(_ reader: EventLoopReader, _ store: SQLiteEntitlementStore) -> MethodTable {
    let check = CheckHandler(
      reader: reader, store: store, catalog: CurrentCatalog(Catalog([ocean])),
      expensiveCalls: ExpensiveCalls(.init(timeout: .seconds(600))),
      clocks: ServiceClocks(ServiceClock(now: { instant })), cacheBytes: 1 << 20)
    return MethodTable(Method.eventLoop(entitlementService: check))
  }

  private func failure(of method: String, in table: MethodTable) -> Status? {
    guard case .failure(let status)? = call(method, request.encodedBytes(), in: table) else { return nil }
    return status
  }

  /// The first result of a batch with one check.
  private func result(of method: String, in table: MethodTable) -> CheckResult? {
    let batch = BatchCheckRequest.with { $0.checks = [request] }
    guard case .reply(let reply)? = call(method, batch.encodedBytes(), in: table) else { return nil }
    return try? BatchCheckResponse.decode(reply.message).results.first
  }

  private func call(_ method: String, _ request: [UInt8], in table: MethodTable) -> UnaryResult? {
    guard case .unary(let handler)? = table.method("/entitled.v1.EntitlementService/\(method)")?.handler
    else { return nil }
    return request.withUnsafeBytes { handler($0, CallContext(headers: HeaderFields(), timeout: nil)) }
  }

  private func withStore(_ body: (SQLiteEntitlementStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    try await body(store)
    await store.close()
  }
}

extension SQLiteEntitlementStore {
  /// Stores the facts of a customer with answers of another catalog.
  func putStale(transactions count: Int, of customerID: String) async throws {
    let key = CustomerKey(appID: ocean.id, environment: .sandbox, customerID: customerID)
    let lines = (0..<count).map { number in
      CustomerFacts(transactions: [
        TransactionFact(
          transactionID: "T\(number)", originalTransactionID: "L\(number)", productID: "pro",
          type: .nonConsumable,
          purchaseDate: instant, signedDate: instant)
      ])
    }
    var facts = CustomerFacts(lines: lines, grants: [], appTransactions: [])
    let answers = PrecomputedAnswers(
      facts,
      in: AppDefinition(id: ocean.id, identity: ocean.identity, environments: [.sandbox], products: []),
      from: instant)
    let isLarge = facts.isLarge
    if isLarge { facts = CustomerFacts(lines: [], grants: [], appTransactions: [], omitted: OmittedAccess()) }
    try await write { [facts] store throws(StoreError) in
      try store.putFacts(facts, answers: answers, of: key)
      for (number, line) in lines.enumerated() where isLarge {
        try store.putFacts(line, ofLine: "L\(number)", chunk: 0, of: key)
      }
    }
  }
}

extension UnaryResult {
  fileprivate var isDeferred: Bool {
    if case .async = self { true } else { false }
  }

  fileprivate func message() async throws(Status) -> [UInt8] { try await awaitReply().message }
}

extension CheckResult {
  fileprivate var response: CheckResponse? {
    if case .response(let response)? = outcome { response } else { nil }
  }

  fileprivate var error: GoogleRPC.Status? {
    if case .error(let error)? = outcome { error } else { nil }
  }
}

private let instant = Instant(millisecondsSince1970: 1_800_000_000_000)

private let request = CheckRequest.with {
  $0.app = ocean.id
  $0.customerId = "ana"
  $0.entitlement = "pro"
}

private let ocean = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
  products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])
