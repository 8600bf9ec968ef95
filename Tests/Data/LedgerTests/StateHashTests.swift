import AppStore
import JSON
import Ledger
import SQLStore
import SQLiteStore
import Store
import TestSupport
import Testing

/// The state hash: the same evidence gives the same hash, and other state another one.
@Suite struct StateHashTests {
  /// One arrival.
  private enum Arrival {
    case submitted(String, renewal: String?, customer: String)
    case notified(String, type: String, signed: Int64)
    case erased(String)

    /// Whether the erasure of ana must follow it, because a later submission would make her a customer again.
    var isOfAna: Bool { if case .submitted(_, _, "ana") = self { true } else { false } }
  }

  private func date(_ day: Int64) -> JSONValue { .number(JSONNumber(at(day).millisecondsSince1970)) }

  private func arrivals(_ fixture: LedgerFixture) throws -> [Arrival] {
    func info(_ line: String, signed: Int64, _ members: JSONObject = [:]) throws -> String {
      var payload: JSONObject = [
        "originalTransactionId": .string(line), "productId": "monthly", "autoRenewProductId": "monthly",
        "autoRenewStatus": 1, "environment": "Sandbox", "renewalDate": date(70), "signedDate": date(signed),
      ]
      for (name, value) in members { payload[name] = value }
      return try fixture.sign(payload)
    }
    let token: JSONObject = ["appAccountToken": "7e3fb204-2f3b-4a7a-9b1c-1f3f6f0a1c11"]
    return [
      .submitted(
        try fixture.period(10...40, token), renewal: try info("L1", signed: 10), customer: "ana"),
      .submitted(try fixture.period(40...70, token), renewal: nil, customer: "ana"),
      .notified(try fixture.period(40...70, signed: 41, token), type: "DID_RENEW", signed: 41),
      .notified(
        try fixture.period(40...70, signed: 45, ["revocationDate": date(44)]), type: "REFUND", signed: 45),
      .notified(try fixture.period(70...100, signed: 69), type: "DID_RENEW", signed: 69),
      .submitted(
        try fixture.period(20...50, line: "L2"), renewal: try info("L2", signed: 20), customer: "ben"),
      .submitted(
        try fixture.period(20...50, line: "L2", signed: 51),
        renewal: try info("L2", signed: 51, ["isInBillingRetryPeriod": true]), customer: "ben"),
      .submitted(
        try fixture.period(20...50, line: "L2", signed: 52), renewal: try info("L2", signed: 52),
        customer: "ben"),
      .notified(try fixture.period(5...35, line: "L3"), type: "SUBSCRIBED", signed: 5),
    ]
  }

  /// The arrivals in random order with repetitions, and the erasure of ana early or late.
  private func shuffled(_ arrivals: [Arrival], _ random: inout SplitMix64) -> [Arrival] {
    var order = arrivals
    for arrival in arrivals where random.next() % 2 == 0 { order.append(arrival) }
    order.shuffle(using: &random)
    let earliest = (order.lastIndex { $0.isOfAna } ?? 0) + 1
    order.insert(.erased("ana"), at: Int.random(in: earliest...order.count, using: &random))
    return order
  }

  private func perform(_ arrivals: [Arrival], _ fixture: LedgerFixture) async throws {
    for (index, arrival) in arrivals.enumerated() {
      fixture.clock.set(at(50).advanced(byMilliseconds: Int64(index) * 977))
      switch arrival {
      case .submitted(let jws, let renewal, let customer):
        _ = try await fixture.submit(jws, renewal: renewal, for: customer)
      case .notified(let jws, let type, let signed): try await fixture.notify(type, signed: signed, jws)
      case .erased(let customer): _ = try await fixture.ledger.erase(customer, fixture.scope)
      }
    }
  }

  @Test("The same evidence in any order, repeated, and with an erasure early or late gives one hash")
  func order() async throws {
    var random = SplitMix64(state: 6)
    var hashes: Set<StateHash> = []
    for _ in 0..<24 {
      try await LedgerFixture.run { fixture in
        let order = shuffled(try arrivals(fixture), &random)
        try await perform(order, fixture)
        let hash = try fixture.store.stateHash()
        let replayed = try await fixture.withReplay { try $0.stateHash() }
        #expect(replayed == hash)
        hashes.insert(hash)
      }
    }
    #expect(hashes.count == 1)
    #expect(hashes.first?.description.count == 64)
  }

  @Test("A changed row gives another hash")
  func changed() async throws {
    try await LedgerFixture.run { fixture in
      let empty = try fixture.store.stateHash()
      try await perform(try arrivals(fixture), fixture)
      var hashes = [empty, try fixture.store.stateHash()]
      let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L2")
      // A fact, a renewal info, an owner, the read model, a merge.
      let evidence = EvidenceID(rawValue: 1)
      let facts = try await fixture.store.snapshot { try $0.facts(of: line) }
      var fact = try #require(facts.transactions.first)
      fact.isUpgraded = true
      fact.signedDate = at(60)
      var renewal = try #require(facts.renewals.first)
      renewal.signedDate = at(60)
      try await fixture.store.write { [fact] store throws(StoreError) in
        _ = try store.put(fact, of: line, from: evidence)
      }
      hashes.append(try fixture.store.stateHash())
      try await fixture.store.write { [renewal] store throws(StoreError) in
        _ = try store.put(renewal, of: line, knownAt: at(60), from: evidence)
      }
      hashes.append(try fixture.store.stateHash())
      try await fixture.store.write { store throws(StoreError) in
        try store.record(
          OwnershipChange(line: line, customerID: "ben", gained: false, at: at(60), evidenceID: evidence))
      }
      hashes.append(try fixture.store.stateHash())
      try await fixture.store.write { store throws(StoreError) in
        try store.setMergeTarget("ben", of: line.customer("ann"))
      }
      hashes.append(try fixture.store.stateHash())
      #expect(Set(hashes).count == hashes.count)
    }
  }
}
