import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Lives of subscribers with every turn that a renewal can take, and the past that they leave.
@Suite struct RandomLivesTests {
  private static let app = AppDefinition(
    id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
    products: Array(LedgerFixture.app.products.values), renewalPolicy: .standard)

  /// One answer of Check.
  private struct Answer: Equatable, CustomStringConvertible {
    let isEntitled: Bool
    let state: EntitlementState
    let reason: EntitlementReason
    let until: Instant?
    let willRenew: Bool?
    let payment: Int64?
    let committedUntil: Instant?

    init(_ status: EntitlementStatus) {
      isEntitled = status.isEntitled
      state = status.state
      reason = status.reason
      until = status.until
      willRenew = status.willRenew
      payment = status.deciding?.commitment?.billingPeriodNumber
      committedUntil = status.deciding?.commitment?.expiresDate
    }

    var description: String {
      "\(reason) until \(until?.description ?? "-"), renews: \(willRenew?.description ?? "-"), payment: "
        + "\(payment?.description ?? "-") until \(committedUntil?.description ?? "-")"
    }
  }

  private static let count = lifeCount(short: 30)

  private struct Recorded {
    let life: Int
    let at: Instant
    let answer: Answer
  }

  @Test(
    "A year later each answer is the one of that time, unless its later change is named, and the events agree with both"
  )
  func aYearLater() async throws {
    try await LedgerFixture.run { fixture in
      fixture.catalog.replace(with: Catalog([Self.app]))
      let lives = Self.lives()
      let recorded = try await live(lives, fixture)
      fixture.clock.set(fixture.clock.now.advanced(byMilliseconds: 365 * RandomLife.day))
      try await expectPastAnswers(recorded, fixture)
      try await fixture.ledger.advance(to: fixture.clock.now)
      try await expectEvents(of: lives, recorded, fixture)
    }
  }

  /// Compares what Check answered with what the history answers now about the same times.
  private func expectPastAnswers(_ recorded: [Recorded], _ fixture: LedgerFixture) async throws {
    var (changed, withAccess) = (0, 0)
    for life in 0..<Self.count {
      let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "c\(life)")
      let answers = recorded.filter { $0.life == life }
      let differences = try await fixture.store.snapshot { reader throws in
        let history = try FactHistory(of: key, in: reader)
        return try answers.compactMap { recorded -> (Recorded, Answer, [LaterChange])? in
          let past = try PastAnswer(history, entitlement: "pro", in: Self.app, at: recorded.at, reader)
          let answer = Answer(evaluate(past.facts, entitlement: "pro", in: Self.app, at: recorded.at))
          return answer == recorded.answer ? nil : (recorded, answer, past.changes)
        }
      }
      for (recorded, answer, changes) in differences {
        changed += 1
        if answer.isEntitled != recorded.answer.isEntitled { withAccess += 1 }
        #expect(
          changes.contains { $0.recordedAt > recorded.at },
          "c\(life) at \(recorded.at): \(recorded.answer), and now \(answer)")
      }
    }
    #expect(recorded.count > 10 * Self.count)
    // Late documents only.
    #expect(changed < recorded.count / 10, "\(changed) of \(recorded.count), \(withAccess) in access")
  }

  /// Compares the events of each life with its history and with what Check answered.
  private func expectEvents(
    of lives: [RandomLife], _ recorded: [Recorded], _ fixture: LedgerFixture
  ) async throws {
    let events = try await fixture.events().map(\.event)
    for (number, life) in lives.enumerated() {
      let own = events.filter { $0.customer.customerID == "c\(number)" }
      // Added seats and their refunds have separate events.
      if !life.isTeam { expect(own, toBeAbout: life, "c\(number)") }
      for recorded in recorded where recorded.life == number {
        // An event that time caused was true before it was recorded.
        let last = own.last {
          ($0.evidenceID == nil ? $0.change.effectiveAt : $0.recordedAt) <= recorded.at
        }
        #expect(
          last?.change.after.isEntitled == recorded.answer.isEntitled,
          "c\(number) at \(recorded.at): \(recorded.answer), after \(last?.change.kind.rawValue ?? "nothing")"
        )
      }
    }
  }

  /// Compares events with what happened in a life.
  private func expect(_ events: [NewEvent], toBeAbout life: RandomLife, _ name: String) {
    let kinds = events.map(\.change.kind)
    for kind in [
      EntitlementChange.Kind.enteredGracePeriod, .renewalTurnedOff, .renewalTurnedOn, .refunded,
    ] {
      #expect(
        kinds.count { $0 == kind } == life.happened[kind] ?? 0, "\(kind) in \(kinds) of \(name)")
    }
    let beginnings = events.filter {
      [.started, .renewed, .recovered].contains($0.change.kind) && $0.evidenceID != nil
    }
    #expect(
      beginnings.compactMap(\.change.subject?.transactionID) == life.transactionIDs,
      "\(kinds) of \(name)")
  }

  private static func lives() -> [RandomLife] {
    var random = SplitMix64(state: 20)
    return (0..<count).map { RandomLife(line: "L\($0)", &random) }
  }

  /// Lets the documents of all lives arrive in the order of time, and records what Check answers in between.
  private func live(_ lives: [RandomLife], _ fixture: LedgerFixture) async throws -> [Recorded] {
    var random = SplitMix64(state: 21)
    var steps: [(at: Instant, life: Int, delivery: RandomLife.Delivery?)] = []
    for (number, life) in lives.enumerated() {
      for delivery in life.deliveries {
        steps.append((delivery.at, number, delivery))
        steps.append((delivery.at, number, nil))
        let later = Int64.random(in: 1...(20 * RandomLife.day), using: &random)
        steps.append((delivery.at.advanced(byMilliseconds: later), number, nil))
      }
    }
    // Checks at the instant of a delivery follow it, because sorting keeps their order.
    let ordered = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    var recorded: [Recorded] = []
    for (_, step) in ordered {
      fixture.clock.set(step.at)
      let customer = "c\(step.life)"
      if let delivery = step.delivery {
        _ = try await fixture.submit(
          fixture.sign(delivery.transaction), renewal: fixture.sign(delivery.renewal), for: customer)
      } else if let status = try check(customer, fixture) {
        recorded.append(Recorded(life: step.life, at: step.at, answer: Answer(status)))
      }
    }
    return recorded
  }

  private func check(_ customer: String, _ fixture: LedgerFixture) throws -> EntitlementStatus? {
    let key = CustomerKey(appID: "ocean", environment: .sandbox, customerID: customer)
    let reader = try fixture.store.makeCheckReader()
    let now = fixture.clock.now
    switch try reader.answer(to: "pro", of: key, under: Self.app.fingerprint, at: now) {
    case .precomputed(let answer): return answer.status
    case .unknownCustomer: return nil
    case .stale:
      return evaluate(
        try reader.facts(of: key) ?? CustomerFacts(), entitlement: "pro", in: Self.app, at: now)
    }
  }
}
