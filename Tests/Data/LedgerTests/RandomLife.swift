import AppStore
import Entitlements
import JSON
import TestSupport

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
  /// The events that are not the beginning of a period, by kind.
  private(set) var happened: [EntitlementChange.Kind: Int] = [:]
  /// Whether the subscriber adds seats to periods.
  let isTeam: Bool
  private let line: String
  private var additions: [Addition] = []
  private var number = 0
  /// The current payment of a commitment to ``payments`` of them; `nil` without a commitment.
  private var payment: Int64?
  /// Whether the commitment renews at its end.
  private var isCommitmentOn = true
  private var start: Instant
  private var end: Instant
  /// Whether the subscription continues, so that the next period continues it.
  private var isRunning = true
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
    let isCommitment = random.next() % 4 == 0
    payment = isCommitment ? 1 : nil
    isTeam = random.next() % 3 == 0 && !isCommitment
    start = at(Int64(random.next() % 20), hours: Int64(random.next() % 24))
    end = start.advanced(byMilliseconds: 30 * Self.day)
    notify(signed: start, &random)
    while !isOver, number < 6 { live(&random) }
  }

  /// The payments of a commitment: less than Apple's twelve, so that lives outlast it.
  static let payments: Int64 = 4

  /// The transactions of all periods in order.
  var transactionIDs: [String] { (0...number).map { "\(line)-\($0)" } }

  private func chance(_ percent: UInt64, _ random: inout SplitMix64) -> Bool { random.next() % 100 < percent }

  private func between(_ low: Int64, _ high: Int64, _ random: inout SplitMix64) -> Int64 {
    .random(in: low...high, using: &random)
  }

  /// A time in the current period, in percent of its length.
  private func during(_ percent: ClosedRange<Int64>, _ random: inout SplitMix64) -> Instant {
    let length = end.milliseconds(since: start)
    return start.advanced(byMilliseconds: length / 100 * .random(in: percent, using: &random))
  }

  /// Lives through one period and its renewal.
  private mutating func live(_ random: inout SplitMix64) {
    if isTeam, chance(70, &random) { changeSeats(&random) }
    let isOn = payment == nil ? changeRenewal(&random) : changeCommitment(&random)
    if chance(8, &random) {
      happened[.refunded, default: 0] += 1
      isRunning = false
      let refund = during(93...98, &random)
      for index in additions.indices where additions[index].revoked == nil {
        additions[index].revoked = refund
        notify(signed: refund.advanced(byMilliseconds: 3000), &random, about: additions[index])
      }
      notify(
        signed: refund.advanced(byMilliseconds: 5000), &random, renewal: ["autoRenewStatus": 0],
        transaction: ["revocationDate": date(refund)])
      return leave(from: refund, &random)
    }
    guard isOn else {
      isRunning = false
      notify(
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
    case ..<90 where payment == nil: failWithGrace(&random)
    default: fail(until: end, &random)
    }
  }

  /// Turns auto-renew off, and perhaps on again, in the current period.
  ///
  /// - Returns: whether the subscription renews at the end of the period.
  private mutating func changeRenewal(_ random: inout SplitMix64) -> Bool {
    guard chance(30, &random) else { return true }
    happened[.renewalTurnedOff, default: 0] += 1
    notify(signed: during(3...45, &random), &random, renewal: ["autoRenewStatus": 0])
    guard chance(40, &random) else { return false }
    happened[.renewalTurnedOn, default: 0] += 1
    notify(signed: during(50...90, &random), &random)
    return true
  }

  /// Cancels the commitment or takes that back, which leaves `autoRenewStatus` and the payments that are due.
  private mutating func changeCommitment(_ random: inout SplitMix64) -> Bool {
    if chance(40, &random) {
      isCommitmentOn.toggle()
      happened[isCommitmentOn ? .renewalTurnedOn : .renewalTurnedOff, default: 0] += 1
      notify(signed: during(3...90, &random), &random)
    }
    return isCommitmentOn || payment ?? 0 < Self.payments
  }

  /// Adds seats on the first day of the period. Some of them are refunded, and some periods are extended.
  private mutating func changeSeats(_ random: inout SplitMix64) {
    func hours(_ low: Int64, _ high: Int64, _ random: inout SplitMix64) -> Instant {
      start.advanced(byMilliseconds: between(low * Self.hour, high * Self.hour, &random))
    }
    additions = [Addition(id: "\(line)-\(number)-seats", start: hours(1, 6, &random))]
    notify(signed: additions[0].start, &random, about: additions[0])
    if chance(30, &random) {
      additions[0].refundedSeats = 1
      notify(signed: hours(7, 8, &random), &random, about: additions[0])
    }
    if chance(40, &random) {
      additions[0].refundedSeats = 2
      let refund = hours(9, 14, &random)
      additions[0].revoked = refund
      notify(signed: refund.advanced(byMilliseconds: 4000), &random, about: additions[0])
    }
    guard chance(40, &random) else { return }
    let extended = hours(15, 22, &random)
    end = end.advanced(byMilliseconds: 10 * Self.day)
    notify(signed: extended, &random)
    notify(signed: extended.advanced(byMilliseconds: 1000), &random, about: additions[0])
  }

  private mutating func failWithGrace(_ random: inout SplitMix64) {
    let grace = end.advanced(byMilliseconds: 16 * Self.day)
    happened[.enteredGracePeriod, default: 0] += 1
    notify(
      signed: end.advanced(byMilliseconds: 16_000), &random,
      renewal: ["isInBillingRetryPeriod": true, "gracePeriodExpiresDate": date(grace)])
    let later = end.advanced(byMilliseconds: between(1, 15, &random) * Self.day)
    switch random.next() % 10 {
    case ..<4: renew(at: later, charged: later, until: end.advanced(byMilliseconds: 30 * Self.day), &random)
    case ..<6:
      isRunning = false
      notify(signed: later, &random, renewal: ["autoRenewStatus": 0, "expirationIntent": 1])
      leave(from: later, &random)
    default: fail(until: grace, &random)
    }
  }

  /// The payment failed, and access ended at `end`.
  private mutating func fail(until end: Instant, _ random: inout SplitMix64) {
    notify(signed: end.advanced(byMilliseconds: 20_000), &random, renewal: ["isInBillingRetryPeriod": true])
    let later = end.advanced(byMilliseconds: between(1, 30, &random) * Self.day)
    if chance(50, &random) { return renew(at: later, charged: later, &random) }
    let over = self.end.advanced(byMilliseconds: (payment == nil ? 61 : 91) * Self.day)
    isRunning = false
    notify(signed: over, &random, renewal: ["autoRenewStatus": 0, "expirationIntent": 2])
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
    if let payment {
      let begins = !isRunning || payment == Self.payments
      self.payment = begins ? 1 : payment + 1
      if begins { isCommitmentOn = true }
    }
    isRunning = true
    additions = []
    start = purchase
    self.end = end ?? purchase.advanced(byMilliseconds: 30 * Self.day)
    notify(signed: charged, &random)
  }

  /// Adds the documents of one notification about the first transaction of the period or another one: mostly within
  /// seconds, sometimes much later.
  private mutating func notify(
    signed: Instant, _ random: inout SplitMix64, renewal: JSONObject = [:], transaction: JSONObject = [:],
    about addition: Addition? = nil
  ) {
    let delay =
      switch random.next() % 20 {
      case ..<16: between(500, 20_000, &random)
      case ..<19: between(1, 50, &random) * Self.minute
      default: between(1, 8, &random) * Self.hour
      }
    var payload = transactionPayload(signed: signed, about: addition)
    var info = renewalPayload(signed: signed)
    for (name, value) in transaction { payload[name] = value }
    for (name, value) in renewal { info[name] = value }
    deliveries.append(
      Delivery(at: signed.advanced(byMilliseconds: delay), transaction: payload, renewal: info))
  }

  /// The end of the running commitment; the end of the period without one.
  private var commitmentEnd: JSONValue {
    let left = payment.map { (Self.payments - $0) * 30 * Self.day } ?? 0
    return date(end.advanced(byMilliseconds: left))
  }

  private func transactionPayload(signed: Instant, about addition: Addition?) -> JSONObject {
    var payload: JSONObject = [
      "transactionId": .string("\(line)-\(number)"), "originalTransactionId": .string(line),
      "bundleId": "com.example", "productId": "monthly", "type": "Auto-Renewable Subscription",
      "environment": "Sandbox", "purchaseDate": date(start), "expiresDate": date(end),
      "signedDate": date(signed),
    ]
    if let payment {
      payload["billingPlanType"] = "MONTHLY"
      payload["commitmentInfo"] = [
        "billingPeriodNumber": .number(JSONNumber(payment)),
        "totalBillingPeriods": .number(JSONNumber(Self.payments)), "commitmentExpiresDate": commitmentEnd,
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
    return payload
  }

  private func renewalPayload(signed: Instant) -> JSONObject {
    var info: JSONObject = [
      "originalTransactionId": .string(line), "productId": "monthly", "autoRenewProductId": "monthly",
      "autoRenewStatus": 1, "environment": "Sandbox", "renewalDate": date(end), "signedDate": date(signed),
    ]
    if payment != nil {
      info["renewalBillingPlanType"] = "MONTHLY"
      // Present only during a commitment.
      info["commitmentInfo"] =
        isRunning
        ? [
          "commitmentAutoRenewStatus": isCommitmentOn ? 1 : 0, "commitmentAutoRenewProductId": "monthly",
          "commitmentRenewalBillingPlanType": "MONTHLY", "commitmentRenewalDate": commitmentEnd,
        ] : nil
    }
    return info
  }
}

private func date(_ instant: Instant) -> JSONValue { .number(JSONNumber(instant.millisecondsSince1970)) }
