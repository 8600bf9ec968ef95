import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Customers with so many transactions that a write reads and writes only some of them.
@Suite struct LargeCustomerTests {
  private static let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  @Test("The read model of a customer with many lines equals a replay, in any order of arrival")
  func equalsReplay() async throws {
    var random = SplitMix64(state: 4)
    let lives = (0..<min(40, lifeCount(short: 20))).map { RandomLife(line: "L\($0)", &random) }
    try await LedgerFixture.run { fixture in
      let deliveries = lives.flatMap(\.deliveries).shuffled(using: &random)
      let last = try #require(deliveries.map(\.at).max())
      for (number, delivery) in deliveries.enumerated() {
        fixture.clock.set(delivery.at)
        _ = try await fixture.submit(
          fixture.sign(delivery.transaction), renewal: fixture.sign(delivery.renewal), for: "ana")
        if number.isMultiple(of: 50) { try await expectCurrentAnswers(fixture) }
      }
      fixture.clock.set(last.advanced(byMilliseconds: 86_400_000))
      _ = try await fixture.ledger.advance(to: fixture.clock.now)
      try await expectCurrentAnswers(fixture)
      let counted = try await fixture.store.snapshot { reader throws in
        (try reader.facts(of: Self.key)?.transactions.count, try reader.counts().transactions)
      }
      #expect(counted.0 == Int(counted.1))
      #expect(try await storedLines(of: Self.key, lives.indices.map { "L\($0)" }, fixture) == lives.count)
      let differences = try await fixture.replayDifferences()
      #expect(differences.isEmpty, "\(differences)")
    }
  }

  @Test("Writes of a large customer store the line that they change, and read a few others")
  func boundedWrites() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(300))
      for number in 0..<200 {
        _ = try await fixture.submit(
          fixture.period(Int64(number)...Int64(number + 30), line: "L\(number)"), for: "ana")
      }
      let stored = try #require(
        try await fixture.store.write { store throws(StoreError) in try store.customer(Self.key)?.facts })
      #expect(stored.omitted != nil && stored.transactions.count < 10)
      #expect(try await storedLines(of: Self.key, (0..<200).map { "L\($0)" }, fixture) == 200)
      let all = try await fixture.store.snapshot { try $0.facts(of: Self.key) }
      #expect(all?.transactions.count == 200 && all?.omitted == nil)
    }
  }

  @Test("A subscription with hundreds of periods is evaluated from its last ones, with the answers of all")
  func longLine() async throws {
    try await LedgerFixture.run { fixture in
      for number in Int64(0)..<120 {
        fixture.clock.set(at(number * 5 + 1))
        let day = number * 5
        // A lapse now and then starts a new run of access.
        let end = day + (number % 37 == 36 ? 2 : 5)
        let renewal = try fixture.sign([
          "originalTransactionId": "L1", "productId": "monthly", "autoRenewProductId": "monthly",
          "autoRenewStatus": .number(JSONNumber(number % 3 == 0 ? 0 : 1)), "environment": "Sandbox",
          "renewalDate": milliseconds(end), "signedDate": milliseconds(day),
        ])
        _ = try await fixture.submit(fixture.period(day...end, line: "L1"), renewal: renewal, for: "ana")
        if number % 20 == 0 || number > 116 { try await expectCurrentAnswers(fixture) }
      }
      let stored = try #require(
        try await fixture.store.write { store throws(StoreError) in try store.customer(Self.key)?.facts })
      #expect(stored.transactions.count <= 4 * CustomerFacts.chunkSize)
      // The refund of an old period, which no tail contains, and documents out of order.
      fixture.clock.set(at(601))
      _ = try await fixture.submit(
        fixture.period(
          200...205, line: "L1", signed: 600, ["revocationDate": milliseconds(202), "revocationReason": 0]),
        for: "ana")
      try await expectCurrentAnswers(fixture)
      _ = try await fixture.submit(fixture.period(605...610, line: "L1"), for: "ana")
      _ = try await fixture.submit(fixture.period(600...605, line: "L1"), for: "ana")
      fixture.clock.set(at(607))
      _ = try await fixture.ledger.advance(to: fixture.clock.now)
      try await expectCurrentAnswers(fixture)
      let all = try await fixture.store.snapshot { try $0.facts(of: Self.key) }
      #expect(all?.transactions.count == 122 && all?.renewalHistories.first?.signatures.count == 120)
      let line = try await fixture.store.snapshot { try $0.facts(of: Self.key.line("L1")) }
      #expect(all == line)
      let differences = try await fixture.replayDifferences()
      #expect(differences.isEmpty, "\(differences)")
    }
  }

  @Test("A failed write leaves no trace in the outline of a large customer")
  func rollback() async throws {
    try await LedgerFixture.run { fixture in
      for number in 0..<80 {
        _ = try await fixture.submit(
          fixture.period(Int64(number)...Int64(number + 30), line: "L\(number)"), for: "ana")
      }
      var scope = fixture.scope
      scope.isDryRun = true
      let granted = try await fixture.ledger.grant("pro", to: "ana", scope)
      #expect(granted.grant != nil)
      _ = try await fixture.submit(fixture.period(200...900, line: "L200"), for: "ana")
      try await expectCurrentAnswers(fixture)
    }
  }

  @Test("A large customer whose purchases move to another one is a small customer again")
  func shrinking() async throws {
    try await LedgerFixture.run { fixture in
      for number in 0..<80 {
        _ = try await fixture.submit(
          fixture.period(Int64(number)...Int64(number + 30), line: "L\(number)"), for: "ana")
      }
      _ = try await fixture.ledger.merge("ana", into: "ben", fixture.scope)
      try await expectCurrentAnswers(fixture)
      let lines = (0..<80).map { "L\($0)" }
      #expect(try await storedLines(of: Self.key, lines, fixture) == 0)
      #expect(try await storedLines(of: Self.key.line("").customer("ben"), lines, fixture) == 80)
      let facts = try await fixture.store.snapshot { reader throws in
        (try reader.facts(of: Self.key), try reader.facts(of: Self.key.line("").customer("ben")))
      }
      #expect(facts.0 == CustomerFacts() && facts.1?.transactions.count == 80)
    }
  }

  /// Expects that the precomputed answers are those of all facts.
  private func expectCurrentAnswers(_ fixture: LedgerFixture) async throws {
    let (now, app) = (fixture.clock.now, LedgerFixture.app)
    let answers = try await fixture.store.snapshot { reader throws in
      let facts = try reader.facts(of: Self.key) ?? CustomerFacts()
      return try app.entitlements.map { entitlement in
        let stored = try reader.answer(to: entitlement, of: Self.key, under: app.fingerprint, at: now)
        return (stored, evaluate(facts, entitlement: entitlement, in: app, at: now))
      }
    }
    for (stored, evaluated) in answers {
      guard case .precomputed(let answer) = stored else {
        Issue.record("no precomputed answer: \(stored)")
        continue
      }
      #expect(answer.status == evaluated)
    }
  }

  private func milliseconds(_ day: Int64) -> JSONValue {
    .number(JSONNumber(at(day).millisecondsSince1970))
  }

  /// The number of lines that are stored one by one.
  private func storedLines(
    of customer: CustomerKey, _ lines: [String], _ fixture: LedgerFixture
  ) async throws -> Int {
    try await fixture.store.write { store throws(StoreError) in
      var count = 0
      for line in lines where try store.facts(ofLine: line, from: 0, of: customer) != CustomerFacts() {
        count += 1
      }
      return count
    }
  }
}
