import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Random histories: the state follows from the evidence alone.
@Suite struct HistoryTests {
  private static let customers = ["ana", "ben", "cleo"]

  @Test("Replay rebuilds the same state after any history", arguments: UInt64(0)..<12)
  func replay(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    try await LedgerFixture.run { fixture in
      var transfers: [String] = []
      for step in 0..<40 {
        fixture.clock.set(at(50 + Int64(step)))
        try await act(fixture, &transfers, using: &random)
        if random.next() % 5 == 0 { try await fixture.ledger.advance(to: fixture.clock.now) }
      }
      #expect(try await fixture.replayDifferences().isEmpty)
      for customer in Self.customers {
        let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: customer)
        let now = fixture.clock.now
        let known = try await fixture.store.snapshot {
          try FactHistory(of: key, in: $0).facts(knownAt: now)
        }
        #expect(try fixture.facts(of: customer) ?? CustomerFacts() == known)
      }
      let sequences = try await fixture.events().map(\.sequence)
      #expect(sequences == Array(1...Int64(sequences.count)))
    }
  }

  @Test(
    "A year after commands and documents each answer is the one of its time, unless its later change is named",
    arguments: UInt64(100)..<116)
  func pastAnswers(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    try await LedgerFixture.run { fixture in
      var transfers: [String] = []
      var recorded: [String: [(at: Instant, status: EntitlementStatus)]] = [:]
      for step in 0..<40 {
        fixture.clock.set(at(50 + Int64(step)))
        if try await act(fixture, &transfers, using: &random) {
          // Nothing remains of an erased customer's past.
          for customer in Self.customers where try fixture.facts(of: customer) == nil {
            recorded[customer] = nil
          }
        }
        fixture.clock.set(at(50 + Int64(step), hours: 1))
        for customer in Self.customers {
          guard let facts = try fixture.facts(of: customer) else { continue }
          let now = fixture.clock.now
          recorded[customer, default: []].append(
            (now, evaluate(facts, entitlement: "pro", in: LedgerFixture.app, at: now)))
        }
      }
      fixture.clock.set(at(500))
      for (customer, answers) in recorded {
        let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: customer)
        try await fixture.store.snapshot { reader throws in
          let history = try FactHistory(of: key, in: reader)
          for answer in answers {
            let past = try PastAnswer(
              history, entitlement: "pro", in: LedgerFixture.app, at: answer.at, reader)
            let status = evaluate(past.facts, entitlement: "pro", in: LedgerFixture.app, at: answer.at)
            #expect(
              status == answer.status || past.changes.contains { $0.recordedAt > answer.at },
              "\(customer) at \(answer.at): \(answer.status.reason), and now \(status.reason)")
            #expect(past.changes.allSatisfy { $0.recordedAt > answer.at })
          }
        }
      }
    }
  }

  @Test("The facts known at the time of each write are those that it left", arguments: UInt64(200)..<212)
  func knownFacts(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    try await LedgerFixture.run { fixture in
      var transfers: [String] = []
      var recorded: [String: [(at: Instant, facts: CustomerFacts)]] = [:]
      for step in 0..<40 {
        fixture.clock.set(at(50 + Int64(step)))
        let isErased = try await act(fixture, &transfers, using: &random)
        for customer in Self.customers {
          let facts = try fixture.facts(of: customer)
          // Nothing remains of an erased customer's past.
          if isErased, facts == nil { recorded[customer] = nil }
          recorded[customer, default: []].append((fixture.clock.now, facts ?? CustomerFacts()))
        }
      }
      for (customer, steps) in recorded {
        let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: customer)
        try await fixture.store.snapshot { reader throws in
          let history = try FactHistory(of: key, in: reader)
          for step in steps {
            // An erasure removes account tokens, also those of a purchase that another customer has.
            #expect(
              history.facts(knownAt: step.at).stated == step.facts.stated, "\(customer) at \(step.at)")
          }
        }
      }
    }
  }

  @Test("State is independent of order and repetition of documents among commands", arguments: UInt64(0)..<6)
  func order(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    try await LedgerFixture.run { fixture in
      var documents: [String] = []
      for number in Int64(0)..<12 {
        let start = 30 * (number / 3)
        documents.append(
          try fixture.period(start...(start + 30), line: "L\(number % 3)", signed: number))
      }
      func run(_ documents: [String]) async throws -> [CustomerFacts?] {
        var facts: [CustomerFacts?] = []
        try await LedgerFixture.run { other in
          // Owners are set first, because the first claim decides and must not depend on delivery order.
          for line in 0..<3 {
            _ = try await other.submit(
              other.period(0...30, line: "L\(line)", signed: -1), for: Self.customers[line])
          }
          for (place, jws) in documents.enumerated() {
            _ = try await other.submit(jws, for: nil)
            if place == documents.count / 2 {
              _ = try await other.ledger.move("L0", to: "ben", policy: .transfer, other.scope)
              _ = try await other.ledger.merge("cleo", into: "ana", other.scope)
            }
          }
          facts = try Self.customers.map { try other.facts(of: $0) }
        }
        return facts
      }
      let straight = try await run(documents)
      let shuffled = try await run((documents + documents.prefix(4)).shuffled(using: &random))
      #expect(straight == shuffled)
    }
  }

  /// Performs one step of a history; a step that is not possible is rejected and changes nothing.
  ///
  /// - Returns: whether a customer was erased.
  @discardableResult
  private func act(
    _ fixture: LedgerFixture, _ transfers: inout [String], using random: inout SplitMix64
  ) async throws -> Bool {
    func one<Element>(_ choices: [Element]) -> Element { choices[Int(random.next() % UInt64(choices.count))] }
    let (customer, other) = (one(Self.customers), one(Self.customers))
    let line = one(["L1", "L2", "L3"])
    let start = Int64(random.next() % 4) * 30
    let ledger = fixture.ledger
    do throws(LedgerError) {
      switch random.next() % 16 {
      case 0...3:
        var changes: JSONObject = random.next() % 2 == 0 ? [:] : ["appAccountToken": .string("token-\(line)")]
        if random.next() % 2 == 0 { changes["quantity"] = .number(JSONNumber(start / 30 + 1)) }
        guard let jws = try? fixture.period(start...(start + 30), line: line, signed: start, changes) else {
          return false
        }
        _ = try await fixture.submit(jws, for: random.next() % 3 == 0 ? nil : customer)
      case 4:
        let policy = one([OwnershipPolicy.keep, .transfer, .share])
        transfers.append(try await ledger.move(line, to: customer, policy: policy, fixture.scope).transferID)
      case 5, 6:
        transfers.append(
          try await ledger.move(line, from: other, to: customer, policy: .transfer, fixture.scope).transferID)
      case 7: transfers.append(try await ledger.merge(customer, into: other, fixture.scope).transferID)
      case 8:
        if let id = transfers.randomElement(using: &random) { _ = try await ledger.undo(id, fixture.scope) }
      case 9: _ = try await ledger.grant("pro", to: customer, fixture.scope)
      case 10: _ = try await ledger.revokeGrant("grant-\(random.next() % 30)", fixture.scope)
      case 11, 12:
        let holder = random.next() % 4 == 0 ? nil : customer
        _ = try await ledger.claimSeat(
          of: line, for: holder, request: "r\(random.next() % 20)", fixture.scope)
      case 13:
        let seat = "seat-\(random.next() % 40)"
        _ = try await ledger.associateSeat(seat, of: line, with: customer, fixture.scope)
      case 14: _ = try await ledger.releaseSeat("seat-\(random.next() % 40)", of: line, fixture.scope)
      default:
        _ = try await ledger.erase(customer, fixture.scope)
        return true
      }
    } catch {
      if case .store = error { throw error }
    }
    return false
  }
}
