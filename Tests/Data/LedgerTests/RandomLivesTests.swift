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

    init(_ status: EntitlementStatus) {
      isEntitled = status.isEntitled
      state = status.state
      reason = status.reason
      until = status.until
    }

    var description: String { "\(reason) until \(until?.description ?? "-")" }
  }

  private struct Recorded {
    let life: Int
    let at: Instant
    let answer: Answer
  }

  @Test("A year later each answer is the one of that time, unless its later change is named")
  func aYearLater() async throws {
    try await LedgerFixture.run { fixture in
      fixture.catalog.replace(with: Catalog([Self.app]))
      let recorded = try await live(200, fixture)
      fixture.clock.set(fixture.clock.now.advanced(byMilliseconds: 365 * RandomLife.day))
      var (changed, withAccess) = (0, 0)
      for life in 0..<200 {
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
      #expect(recorded.count > 2000)
      // Late documents only.
      #expect(changed < recorded.count / 10, "\(changed) of \(recorded.count), \(withAccess) in access")
    }
  }

  /// Lets the documents of all lives arrive in the order of time, and records what Check answers in between.
  private func live(_ count: Int, _ fixture: LedgerFixture) async throws -> [Recorded] {
    var random = SplitMix64(state: 20)
    let lives = (0..<count).map { RandomLife(line: "L\($0)", &random) }
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

/// The signed documents of one subscriber's life, with the times at which they arrive.
struct RandomLife {
  struct Delivery {
    let at: Instant
    let transaction: JSONObject
    let renewal: JSONObject
  }

  static let minute: Int64 = 60_000
  static let hour = 60 * minute
  static let day = 24 * hour

  private(set) var deliveries: [Delivery] = []
  private let line: String
  private let isCommitment: Bool
  /// Whether the subscriber adds seats to periods.
  private let isTeam: Bool
  private var additions: [Addition] = []
  private var number = 0
  private var start: Instant
  private var end: Instant
  private var isOver = false

  /// A transaction that added seats to the period.
  private struct Addition {
    let id: String
    let start: Instant
    var refundedSeats: Int64 = 0
    var revoked: Instant?
  }

  init(line: String, _ random: inout SplitMix64) {
    self.line = line
    isCommitment = random.next() % 8 == 0
    isTeam = random.next() % 3 == 0 && !isCommitment
    start = at(Int64(random.next() % 20), hours: Int64(random.next() % 24))
    end = start.advanced(byMilliseconds: 30 * Self.day)
    tell(signed: start, &random)
    while !isOver, number < 6 { live(&random) }
  }

  private func chance(_ percent: UInt64, _ random: inout SplitMix64) -> Bool { random.next() % 100 < percent }

  private func between(_ low: Int64, _ high: Int64, _ random: inout SplitMix64) -> Int64 {
    .random(in: low...high, using: &random)
  }

  /// Lives through one period and its renewal.
  private mutating func live(_ random: inout SplitMix64) {
    var isOn = true
    if isTeam, chance(70, &random) { changeSeats(&random) }
    if chance(30, &random) {
      isOn = false
      tell(
        signed: start.advanced(byMilliseconds: between(1, 14, &random) * Self.day), &random,
        renewal: ["autoRenewStatus": 0])
      if chance(40, &random) {
        isOn = true
        tell(signed: start.advanced(byMilliseconds: between(15, 28, &random) * Self.day), &random)
      }
    }
    if chance(8, &random) {
      let refund = start.advanced(byMilliseconds: between(2, 29, &random) * Self.day)
      for index in additions.indices where additions[index].revoked == nil {
        additions[index].revoked = refund
        tell(signed: refund.advanced(byMilliseconds: 3000), &random, about: additions[index])
      }
      tell(
        signed: refund.advanced(byMilliseconds: 5000), &random, renewal: ["autoRenewStatus": 0],
        transaction: ["revocationDate": date(refund)])
      return leave(from: refund, &random)
    }
    guard isOn else {
      tell(
        signed: end.advanced(byMilliseconds: 9000), &random,
        renewal: ["autoRenewStatus": 0, "expirationIntent": 1])
      return leave(from: end, &random)
    }
    switch random.next() % 100 {
    case ..<50:
      renew(at: end, charged: end.advanced(byMilliseconds: -between(0, 20 * Self.hour, &random)), &random)
    case ..<65:
      let late = end.advanced(byMilliseconds: between(1, 600, &random) * 1000)
      renew(at: late, charged: late, &random)
    case ..<90 where !isCommitment: failWithGrace(&random)
    default: fail(until: end, &random)
    }
  }

  /// Adds seats on the first day of the period. Some of them are refunded, and some periods are extended.
  private mutating func changeSeats(_ random: inout SplitMix64) {
    func hours(_ low: Int64, _ high: Int64, _ random: inout SplitMix64) -> Instant {
      start.advanced(byMilliseconds: between(low * Self.hour, high * Self.hour, &random))
    }
    additions = [Addition(id: "\(line)-\(number)-seats", start: hours(1, 6, &random))]
    tell(signed: additions[0].start, &random, about: additions[0])
    if chance(30, &random) {
      additions[0].refundedSeats = 1
      tell(signed: hours(7, 8, &random), &random, about: additions[0])
    }
    if chance(40, &random) {
      additions[0].refundedSeats = 2
      let refund = hours(9, 14, &random)
      additions[0].revoked = refund
      tell(signed: refund.advanced(byMilliseconds: 4000), &random, about: additions[0])
    }
    guard chance(40, &random) else { return }
    let extended = hours(15, 22, &random)
    end = end.advanced(byMilliseconds: 10 * Self.day)
    tell(signed: extended, &random)
    tell(signed: extended.advanced(byMilliseconds: 1000), &random, about: additions[0])
  }

  private mutating func failWithGrace(_ random: inout SplitMix64) {
    let grace = end.advanced(byMilliseconds: 16 * Self.day)
    tell(
      signed: end.advanced(byMilliseconds: 16_000), &random,
      renewal: ["isInBillingRetryPeriod": true, "gracePeriodExpiresDate": date(grace)])
    let later = end.advanced(byMilliseconds: between(1, 15, &random) * Self.day)
    switch random.next() % 10 {
    case ..<4: renew(at: later, charged: later, until: end.advanced(byMilliseconds: 30 * Self.day), &random)
    case ..<6:
      tell(signed: later, &random, renewal: ["autoRenewStatus": 0, "expirationIntent": 1])
      leave(from: later, &random)
    default: fail(until: grace, &random)
    }
  }

  /// The payment failed, and access ended at `end`.
  private mutating func fail(until end: Instant, _ random: inout SplitMix64) {
    tell(signed: end.advanced(byMilliseconds: 20_000), &random, renewal: ["isInBillingRetryPeriod": true])
    let later = end.advanced(byMilliseconds: between(1, 30, &random) * Self.day)
    if chance(50, &random) { return renew(at: later, charged: later, &random) }
    let over = self.end.advanced(byMilliseconds: 61 * Self.day)
    tell(signed: over, &random, renewal: ["autoRenewStatus": 0, "expirationIntent": 2])
    leave(from: over, &random)
  }

  private mutating func leave(from instant: Instant, _ random: inout SplitMix64) {
    guard chance(50, &random) else {
      isOver = true
      return
    }
    let back = max(instant, end).advanced(byMilliseconds: between(1, 40, &random) * Self.day)
    renew(at: back, charged: back, &random)
  }

  private mutating func renew(
    at purchase: Instant, charged: Instant, until end: Instant? = nil, _ random: inout SplitMix64
  ) {
    number += 1
    additions = []
    start = purchase
    self.end = end ?? purchase.advanced(byMilliseconds: 30 * Self.day)
    tell(signed: charged, &random)
  }

  /// Adds the documents of one notification about the first transaction of the period or another one: mostly within
  /// seconds, sometimes much later.
  private mutating func tell(
    signed: Instant, _ random: inout SplitMix64, renewal: JSONObject = [:], transaction: JSONObject = [:],
    about addition: Addition? = nil
  ) {
    let delay =
      switch random.next() % 20 {
      case ..<16: between(500, 20_000, &random)
      case ..<19: between(1, 50, &random) * Self.minute
      default: between(1, 8, &random) * Self.hour
      }
    var payload: JSONObject = [
      "transactionId": .string("\(line)-\(number)"), "originalTransactionId": .string(line),
      "bundleId": "com.example", "productId": "monthly", "type": "Auto-Renewable Subscription",
      "environment": "Sandbox", "purchaseDate": date(start), "expiresDate": date(end),
      "signedDate": date(signed),
    ]
    if isCommitment {
      payload["billingPlanType"] = "MONTHLY"
      payload["commitmentInfo"] = [
        "billingPeriodNumber": .number(JSONNumber(Int64(number + 1))), "totalBillingPeriods": 12,
      ]
    }
    if !additions.isEmpty {
      payload["additionalTransactionReason"] = "SEAT_ADDITION"
      payload["quantity"] = 2
      payload["multiSeatInfo"] = ["invitationManagement": "APPLE"]
    }
    if let addition {
      payload["transactionId"] = .string(addition.id)
      payload["purchaseDate"] = date(addition.start)
      payload["transactionReason"] = "PURCHASE"
      payload["revocationDate"] = addition.revoked.map(date)
      payload["multiSeatInfo"] = [
        "invitationManagement": "APPLE", "revokedSeatQuantity": .number(JSONNumber(addition.refundedSeats)),
      ]
    }
    var info: JSONObject = [
      "originalTransactionId": .string(line), "productId": "monthly", "autoRenewProductId": "monthly",
      "autoRenewStatus": 1, "environment": "Sandbox", "renewalDate": date(end), "signedDate": date(signed),
    ]
    for (name, value) in transaction { payload[name] = value }
    for (name, value) in renewal { info[name] = value }
    deliveries.append(
      Delivery(at: signed.advanced(byMilliseconds: delay), transaction: payload, renewal: info))
  }
}

private func date(_ instant: Instant) -> JSONValue { .number(JSONNumber(instant.millisecondsSince1970)) }
