import AppStore
import Entitlements
import PostgresStore
import PostgresSupport
import SQLStore
import Store
import Synchronization
import Testing

/// Stored answers that are read for many calls with one query.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct AnswerLoaderTests {
  @Test(
    "Customers requested together are read with one query: known ones, unknown ones and one of them twice")
  func batch() async throws {
    try await withStore { store in
      try await store.put(customer("ana"), customer("ben"))
      let loader = try #require(try store.makeAnswerLoader())
      let results = await load(["ana", "none", "ben", "ana"], loader)
      #expect(results.map(\.isKnown) == [true, false, true, true])
      #expect(results.allSatisfy { $0.version == store.changes.lastCommit })
    }
  }

  @Test("Loaded answers are those of the store")
  func content() async throws {
    try await withStore { store in
      let ana = customer("ana")
      try await store.put(ana)
      let loader = try #require(try store.makeAnswerLoader())
      guard case .answers(let bytes, let factBytes)? = await load(["ana"], loader).first?.content else {
        Issue.record("the customer is unknown")
        return
      }
      #expect(factBytes > 0)
      let answer = try AnswerCoding.answer(
        in: bytes.span, to: "pro", under: ocean.fingerprint, at: Instant(millisecondsSince1970: 5))
      let expected = try await store.read { snapshot throws(StoreError) in
        try snapshot.answer(
          to: "pro", of: ana, under: ocean.fingerprint, at: Instant(millisecondsSince1970: 5))
      }
      #expect(answer.map(AnswerLookup.precomputed) == expected)
    }
  }

  @Test("A thousand customers are read in batches, and each request gets the answer about its customer")
  func many() async throws {
    try await withStore { store in
      let known = (0..<500).map { customer("c\($0)") }
      try await store.write { transaction throws(StoreError) in
        for key in known { try transaction.put(key) }
      }
      let loader = try #require(try store.makeAnswerLoader())
      let results = await load((0..<1_000).map { "c\($0)" }, loader)
      #expect(results.map(\.isKnown) == (0..<1_000).map { $0 < 500 })
    }
  }

  @Test("A customer whose row has another number because of a collision is ambiguous, not unknown")
  func collision() async throws {
    try await withStore(hash: { _ in 7 }) { store in
      try await store.put(customer("ana"), customer("ben"))
      let loader = try #require(try store.makeAnswerLoader())
      let results = await load(["ana", "ben"], loader)
      #expect(results.map(\.content).filter { $0 == .ambiguous }.count == 1)
      #expect(results.filter(\.isKnown).count == 1)
    }
  }

  @Test("Requests fail while the database is away")
  func away() async throws {
    let server = try PostgresServer(["--fsync", "off"])
    let store = try PostgresEntitlementStore(server.settings(try server.makeDatabase()))
    let loader = try #require(try store.makeAnswerLoader())
    try server.stop()
    while true {
      let result = await result(of: customer("ana"), loader)
      if case .failure(let error) = result {
        guard case .unavailable = error else {
          Issue.record("\(error)")
          break
        }
        break
      }
    }
    await store.close()
  }

  @Test("After the database was lost, customers are read on another session than before")
  func loss() async throws {
    try await withStore { store in
      try await store.put(customer("ana"))
      let loader = try #require(try store.makeAnswerLoader())
      #expect(try await result(of: customer("ana"), loader).get().isKnown)
      _ = store.feed.lost()
      await #expect(throws: StoreError.self) { try await result(of: customer("ana"), loader).get() }
      while (try? await result(of: customer("ana"), loader).get())?.isKnown != true { await Task.yield() }
    }
  }

  private func load(_ customers: [String], _ loader: any AnswerLoader) async -> [LoadedAnswers] {
    await withCheckedContinuation { continuation in
      let holder = Holder(count: customers.count, continuation: continuation)
      for (index, id) in customers.enumerated() {
        loader.load(customer(id)) { holder.add(index, try? $0.get()) }
      }
      loader.flush()
    }
  }

  private func result(
    of customer: CustomerKey, _ loader: any AnswerLoader
  ) async -> Result<LoadedAnswers, StoreError> {
    await withCheckedContinuation { continuation in
      loader.load(customer) { continuation.resume(returning: $0) }
      loader.flush()
    }
  }

  private func withStore(
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    _ body: (PostgresEntitlementStore) async throws -> Void
  ) async throws {
    try await PostgresSlots.shared.withDatabase { settings in
      let store = try PostgresEntitlementStore(settings, hash: hash)
      try await body(store)
      await store.close()
    }
  }
}

/// Collects results until there are as many as requests.
private final class Holder: Sendable {
  private let results = Mutex<[Int: LoadedAnswers]>([:])
  private let continuation: CheckedContinuation<[LoadedAnswers], Never>
  private let count: Int

  init(count: Int, continuation: CheckedContinuation<[LoadedAnswers], Never>) {
    self.count = count
    self.continuation = continuation
  }

  func add(_ index: Int, _ result: LoadedAnswers?) {
    let all = results.withLock { results -> [LoadedAnswers]? in
      results[index] = result ?? LoadedAnswers(.ambiguous, version: .max)
      return results.count == count ? (0..<count).compactMap { results[$0] } : nil
    }
    if let all { continuation.resume(returning: all) }
  }
}

extension LoadedAnswers {
  fileprivate var isKnown: Bool { if case .answers = content { true } else { false } }
}

extension StoreTransaction {
  fileprivate func put(_ customer: CustomerKey) throws(StoreError) {
    let facts = CustomerFacts(transactions: [
      TransactionFact(
        transactionID: "T", originalTransactionID: "L", productID: "pro", type: .nonConsumable,
        purchaseDate: Instant(millisecondsSince1970: 1), signedDate: Instant(millisecondsSince1970: 1))
    ])
    let answers = PrecomputedAnswers(facts, in: ocean, from: Instant(millisecondsSince1970: 0))
    try putFacts(facts, answers: answers, of: customer)
  }
}

extension PostgresEntitlementStore {
  fileprivate func put(_ customers: CustomerKey...) async throws(StoreError) {
    try await write { transaction throws(StoreError) in
      for customer in customers { try transaction.put(customer) }
    }
  }
}
