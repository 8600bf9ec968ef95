import AppStore
import Entitlements
import Foundation
import HTTP
import Ledger
import RPC
import SQLiteStore
import Store
import Synchronization
import Testing
import Wire

@testable import Services

@Suite("Check of a store whose database is across a network")
struct RemoteChecksTests {
  @Test("The misses of a tick are read together, and answered from memory from then on")
  func misses() async throws {
    try await withChecks { checks, loader, _, _ in
      let first = try checks.check("ana")
      let second = try checks.check("stranger")
      #expect(loader.loaded == [])
      checks.endTick()
      #expect(loader.loaded == [["ana", "stranger"]])
      let results = [try await first.entitled(), try await second.entitled()]
      #expect(results == [true, false])
      let again = try checks.check("ana")
      // Another entitlement of the same customer needs no read either.
      let other = try checks.check("ana", "plus")
      #expect(!again.isDeferred && !other.isDeferred)
      let cached = [try await again.entitled(), try await other.entitled()]
      #expect(cached == [true, false])
      checks.endTick()
      #expect(loader.loaded.count == 1)
    }
  }

  @Test("A customer who changed is read again")
  func changed() async throws {
    try await withChecks { checks, loader, changes, _ in
      _ = try await checks.answer("ana")
      changes.committed(hashes: [key("ana").storedHash])
      let result = try checks.check("ana")
      #expect(result.isDeferred)
      checks.endTick()
      _ = try await result.entitled()
      #expect(loader.loaded == [["ana"], ["ana"]])
    }
  }

  @Test(
    "While the database is away, known customers are answered with a mark and on time, unknown ones are not")
  func stale() async throws {
    try await withChecks { checks, loader, _, clock in
      _ = try await checks.answer("ana")
      _ = try await checks.answer("ending")
      let stranger = try await checks.answer("stranger")
      #expect(stranger == false)
      loader.isAway.store(true, ordering: .relaxed)
      _ = clock.feed.lost()
      clock.advance(4_000)
      let unmarked = try checks.check("ana").immediate
      #expect(unmarked != nil && unmarked?.staleSince == nil)
      clock.advance(2_000)
      let marked = try checks.check("ana").immediate
      #expect(marked?.staleSince == "\(start)")
      let before = try await checks.check("ending").entitled()
      #expect(before == true)
      for customer in ["stranger", "new"] {
        #expect(throws: Status.self) { try checks.check(customer) }
      }
      clock.advance(55_000)
      let after = try await checks.check("ending").entitled()
      #expect(after == false)
      clock.advance(3_600_000)
      #expect(throws: Status.self) { try checks.check("ana") }
    }
  }

  @Test("A batch has an answer in the place of each check, and an error in those that cannot be answered")
  func batch() async throws {
    try await withChecks { checks, loader, _, clock in
      let results = try await checks.batch(["ana", "stranger", ""]).map(\.entitled)
      #expect(results == [true, false, nil])
      #expect(loader.loaded == [["ana", "stranger"]])
      loader.isAway.store(true, ordering: .relaxed)
      _ = clock.feed.lost()
      clock.advance(6_000)
      let stale = try await checks.batch(["ana", "stranger"]).map(\.entitled)
      #expect(stale == [true, nil])
    }
  }

  @Test("A tick without a missing customer leaves the loader alone")
  func tickWithoutMiss() async throws {
    try await withChecks { checks, loader, _, _ in
      _ = try await checks.answer("ana")
      #expect(loader.flushes == 1)
      _ = try await checks.answer("ana")
      #expect(loader.flushes == 1)
      _ = try await checks.batch(["stranger"])
      #expect(loader.flushes == 2)
    }
  }

  @Test("If only the loader's session is lost, the reader pool answers")
  func lostLoader() async throws {
    try await withChecks { checks, loader, _, _ in
      loader.isAway.store(true, ordering: .relaxed)
      // The pool reads another store, in which the customer has nothing.
      let answer = try await checks.answer("ana")
      #expect(answer == false)
    }
  }

  private func withChecks(
    _ body: (RemoteChecks, FakeLoader, CustomerVersions, TestClock) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "remote-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    let clock = TestClock()
    let (changes, catalog) = (CustomerVersions(), CurrentCatalog(Catalog([ocean])))
    let evaluation = CheckEvaluation(changes: changes, catalog: catalog)
    let pool = PooledChecks(
      checks: evaluation, store: store, expensiveCalls: ExpensiveCalls(.init(timeout: .seconds(600))),
      times: { clock.times })
    let loader = FakeLoader(changes)
    let answers = RemoteAnswers(
      checks: evaluation, loader: loader, memory: AnswerMemory(changes: changes, byteLimit: 1 << 20),
      pool: pool, feed: clock.feed)
    let cache = CheckResponseCache(changes: changes, catalog: catalog, byteLimit: 1 << 20)
    try await body(RemoteChecks(answers, responses: cache), loader, changes, clock)
    await store.close()
  }
}

@Suite struct AnswerMemoryTests {
  @Test("A full memory keeps the customers that were asked about last, within its limit")
  func bounded() {
    let memory = AnswerMemory(changes: CustomerVersions(), byteLimit: 1 << 20)
    let answers = LoadedAnswers(.answers([UInt8](repeating: 1, count: 100), factBytes: 1), version: 0)
    for number in 0..<20_000 {
      memory.insert(answers, of: key("c\(number)"))
      // One customer is asked about all the time.
      #expect(memory.answers(of: key("c0")) != nil)
    }
    #expect(memory.answers(of: key("c19999")) != nil && memory.answers(of: key("c1")) == nil)
    let kept = (0..<20_000).filter { memory.answers(of: key("c\($0)")) != nil }.count
    #expect(kept > 1_000 && kept < 4_500)
  }

  @Test("Answers that grow count with their new size")
  func growingAnswers() {
    let memory = AnswerMemory(changes: CustomerVersions(), byteLimit: 1 << 20)
    for size in [1, 2_000] {
      let bytes = [UInt8](repeating: 1, count: size)
      let answers = LoadedAnswers(.answers(bytes, factBytes: 1), version: 0)
      for number in 0..<1_000 { memory.insert(answers, of: key("c\(number)")) }
    }
    let kept = (0..<1_000).filter { memory.answers(of: key("c\($0)")) != nil }.count
    #expect(kept > 100 && kept < 600)
  }

  @Test("A canonically equivalent id is another customer's")
  func equivalentIDs() {
    let memory = AnswerMemory(changes: CustomerVersions(), byteLimit: 1 << 20)
    let answers = LoadedAnswers(.answers([1], factBytes: 1), version: 0)
    // Many, because the memory has shards by the bytes of the id.
    for number in 0..<200 {
      memory.insert(answers, of: key("ren\u{E9}\(number)"))
      #expect(memory.answers(of: key("rene\u{301}\(number)")) == nil)
    }
  }
}

/// A clock of the test and a feed that follows it.
private final class TestClock: Sendable {
  let feed = StoreFeed(terms: [], position: 0, policy: StalenessPolicy(), now: start)
  private let milliseconds = Atomic<Int64>(0)

  func advance(_ count: Int64) { milliseconds.wrappingAdd(count, ordering: .relaxed) }

  var times: EnvironmentTimes {
    let now = start.advanced(byMilliseconds: milliseconds.load(ordering: .relaxed))
    return EnvironmentTimes(sandbox: now, others: now)
  }
}

/// Has `ana` without expiry, and `ending` for a minute.
private final class FakeLoader: AnswerLoader {
  private typealias Load = (CustomerKey, @Sendable (Result<LoadedAnswers, StoreError>) -> Void)

  let isAway = Atomic(false)
  private let changes: CustomerVersions
  private let waiting = Mutex<[Load]>([])
  private let batches = Mutex<[[String]]>([])
  private let flushCount = Atomic(0)

  init(_ changes: CustomerVersions) { self.changes = changes }

  var flushes: Int { flushCount.load(ordering: .relaxed) }

  /// The customers of each batch.
  var loaded: [[String]] { batches.withLock { $0 } }

  func load(
    _ customer: CustomerKey, _ completion: @escaping @Sendable (Result<LoadedAnswers, StoreError>) -> Void
  ) {
    waiting.withLock { $0.append((customer, completion)) }
  }

  func flush() {
    flushCount.wrappingAdd(1, ordering: .relaxed)
    let loads = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    guard !loads.isEmpty else { return }
    batches.withLock { $0.append(loads.map(\.0.customerID)) }
    for (customer, completion) in loads {
      guard !isAway.load(ordering: .relaxed) else {
        completion(.failure(.unavailable("away")))
        continue
      }
      completion(.success(LoadedAnswers(Self.content(customer), version: changes.lastCommit)))
    }
  }

  private static func content(_ customer: CustomerKey) -> LoadedAnswers.Content {
    guard ["ana", "ending"].contains(customer.customerID) else { return .unknownCustomer }
    let end = customer.customerID == "ending" ? start.advanced(byMilliseconds: 60_000) : nil
    let facts = CustomerFacts(
      grants: [
        GrantFact(grantID: "grant-1", entitlement: "pro", accessLevel: .full, since: start, until: end)
      ])
    return .answers(AnswerCoding.encode(PrecomputedAnswers(facts, in: ocean, from: start)), factBytes: 1)
  }
}

extension RemoteChecks {
  fileprivate func check(_ customer: String, _ entitlement: String = "pro") throws -> UnaryResult {
    try checkRequest(customer, entitlement).encodedBytes().withUnsafeBytes { bytes in
      try check(EncodedRequest(bytes: bytes), call)
    }
  }

  /// Checks, and ends the tick.
  fileprivate func answer(_ customer: String) async throws -> Bool? {
    let result = try check(customer)
    endTick()
    return try await result.entitled()
  }

  fileprivate func batch(_ customers: [String]) async throws -> [CheckResult] {
    var request = BatchCheckRequest()
    request.checks = customers.map { checkRequest($0, "pro") }
    let result = try request.encodedBytes().withUnsafeBytes {
      try batchCheck(EncodedRequest(bytes: $0), call, isLarge: false)
    }
    endTick()
    return try BatchCheckResponse.decode(try await result.message()).results
  }
}

extension UnaryResult {
  fileprivate var isDeferred: Bool {
    switch self {
    case .async, .later: true
    case .reply, .failure: false
    }
  }

  fileprivate func message() async throws(Status) -> [UInt8] { try await awaitReply().message }

  fileprivate var immediate: Reply? { if case .reply(let reply) = self { reply } else { nil } }

  fileprivate func entitled() async throws -> Bool? {
    try CheckResponse.decode(try await message()).entitlement?.entitled
  }
}

extension Reply {
  fileprivate var staleSince: String? { initialMetadata["entitled-stale-since"] }
}

extension CheckResult {
  fileprivate var entitled: Bool? {
    if case .response(let response)? = outcome { response.entitlement?.entitled } else { nil }
  }
}

private let start = Instant(millisecondsSince1970: 1_800_000_000_000)
private let call = CallContext(headers: HeaderFields(), timeout: nil)

private func key(_ id: String) -> CustomerKey {
  CustomerKey(appID: ocean.id, environment: .sandbox, customerID: id)
}

private func checkRequest(_ customer: String, _ entitlement: String) -> CheckRequest {
  CheckRequest.with {
    $0.app = ocean.id
    $0.customerId = customer
    $0.entitlement = entitlement
  }
}

private let ocean = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
  products: [
    ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"]),
    ProductDefinition(productID: "plus", type: .nonConsumable, entitlements: ["plus"]),
  ])
