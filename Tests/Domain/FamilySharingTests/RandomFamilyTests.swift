import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// Random families and groups compared with an oracle.
@Suite struct RandomFamilyTests {
  @Test("Family members have access exactly on the oracle's days, in every order of arrival")
  func families() {
    var random = SplitMix64(state: 5)
    for _ in 0..<lifeCount(short: 20) {
      let family = RandomFamily(&random)
      for person in 0..<6 {
        let documents = family.documents[person]
        let arrived = (documents + documents.prefix(3)).shuffled(using: &random)
        let facts = CustomerFacts(transactions: arrived)
        for day in 0..<RandomFamily.days {
          let status = evaluate(facts, entitlement: "pro", in: app, at: at(Int64(day), hours: 12))
          let (own, shared) = (family.ownDays[person], family.sharedDays[person])
          #expect(
            status.isEntitled == (own.contains(day) || shared.contains(day)), "person \(person), day \(day)")
          // An own purchase decides the answer.
          if own.contains(day) { #expect(status.deciding?.ownership == .purchased) }
        }
      }
    }
  }

  @Test("The oldest claims hold the seats, never more than were purchased")
  func groups() {
    var random = SplitMix64(state: 6)
    for _ in 0..<lifeCount(short: 20) {
      let group = RandomGroup(&random)
      let purchase = CustomerFacts(transactions: group.periods.shuffled(using: &random))
      let seats = group.seats.shuffled(using: &random)
      for day in 0..<RandomFamily.days {
        var holders: Set<String> = []
        for seat in seats {
          let facts = purchase.assigned(to: seat, among: seats)
          let status = evaluate(facts, entitlement: "pro", in: app, at: at(Int64(day), hours: 12))
          if status.isEntitled { holders.insert(seat.seatID) }
        }
        #expect(holders == group.holders(on: day), "day \(day)")
      }
    }
  }
}

/// A purchase with a changing number of seats, and random claims.
private struct RandomGroup {
  private(set) var periods: [TransactionFact] = []
  private(set) var seats: [Seat] = []

  init(_ random: inout SplitMix64) {
    for start in stride(from: Int64(0), to: 120, by: 30) {
      let quantity = Int64.random(in: 1...4, using: &random)
      periods.append(
        period(start...(start + 30), line: "team").with {
          $0.quantity = quantity
          if random.one(in: 3) { $0.revokedSeatQuantity = .random(in: 1...2, using: &random) }
          if $0.revokedSeatQuantity ?? 0 >= quantity { $0.revokedSeatQuantity = nil }
          let reportedAt = at(start + .random(in: 0..<30, using: &random))
          if let refunded = $0.revokedSeatQuantity {
            $0.signedDate = reportedAt
            $0.details.seatRefunds = [.init(quantity: refunded, reportedAt: reportedAt)]
          }
        })
    }
    for number in 0..<Int.random(in: 1...7, using: &random) {
      let claimed = Int64.random(in: 0..<100, using: &random)
      let released = random.one(in: 2) ? claimed + .random(in: 1...40, using: &random) : nil
      seats.append(
        Seat(
          seatID: "seat-\(number)", originalTransactionID: "team",
          claimedAt: at(claimed, hours: Int64(number)),
          releasedAt: released.map { at($0, hours: Int64(number)) }))
    }
  }

  /// The claims with access at noon: the oldest held claims, up to the number of seats.
  func holders(on day: Int) -> Set<String> {
    let noon = at(Int64(day), hours: 12)
    guard let running = periods.first(where: { $0.purchaseDate <= noon && noon < $0.expiresDate! }) else {
      return []
    }
    let held = seats.filter { $0.claimedAt <= noon && noon < $0.releasedAt ?? at(1_000) }
      .sorted { $0.claimedAt < $1.claimedAt }
    let refunded = running.refundsOfSeats.last { $0.reportedAt <= noon }?.quantity ?? 0
    return Set(held.prefix(Int(running.quantity - refunded)).map(\.seatID))
  }
}

/// A purchaser and five members over 120 days: they join and leave, periods are refunded and restored,
/// members make own purchases. Collects Apple's documents in signing order and, as the oracle, the days of
/// access.
struct RandomFamily {
  /// The simulated days.
  static let days = 120

  /// The signed documents of each customer, the purchaser first.
  private(set) var documents: [[TransactionFact]] = Array(repeating: [], count: 6)
  /// The oracle: each customer's days of access by own and by shared purchases.
  private(set) var ownDays: [Set<Int>] = Array(repeating: [], count: 6)
  private(set) var sharedDays: [Set<Int>] = Array(repeating: [], count: 6)

  private var isInFamily = [true, false, false, false, false, false]
  private var isRefunded = false
  private var periodEnd = 30

  init(_ random: inout SplitMix64) {
    for day in 0..<Self.days {
      if day % 30 == 0 { renew(day) }
      // One action a day, so that no two documents of a customer have the same signature date.
      let person = Int.random(in: 1..<6, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3: isInFamily[person] ? leave(person, day) : join(person, day)
      case 4: if day % 30 != 0 { isRefunded ? reverse(day) : refund(day) }
      case 5: buy(person, day, &random)
      default: break
      }
    }
  }

  private mutating func renew(_ day: Int) {
    isRefunded = false
    periodEnd = day + 30
    documents[0].append(period(Int64(day)...Int64(periodEnd), line: "bought"))
    ownDays[0].formUnion(day..<periodEnd)
    for person in 1..<6 where isInFamily[person] { share(person, from: day) }
  }

  /// The member gets a transaction for the rest of the period.
  private mutating func share(_ person: Int, from day: Int) {
    documents[person].append(
      period(Int64(day)...Int64(periodEnd), line: "shared-\(person)", .familyShared))
    sharedDays[person].formUnion(day..<periodEnd)
  }

  /// `REVOKE` for the member's latest transaction.
  private mutating func revoke(_ person: Int, _ day: Int) {
    guard let last = documents[person].last(where: { $0.ownership == .familyShared }),
      last.revocationDate == nil
    else { return }
    documents[person].append(last.revoked(on: Int64(day)))
    sharedDays[person].subtract(day..<Self.days + 30)
  }

  private mutating func join(_ person: Int, _ day: Int) {
    isInFamily[person] = true
    if !isRefunded { share(person, from: day) }
  }

  private mutating func leave(_ person: Int, _ day: Int) {
    isInFamily[person] = false
    revoke(person, day)
  }

  private mutating func refund(_ day: Int) {
    guard let last = documents[0].last else { return }
    isRefunded = true
    documents[0].append(last.revoked(on: Int64(day)))
    ownDays[0].subtract(day..<periodEnd)
    for person in 1..<6 where isInFamily[person] { revoke(person, day) }
  }

  private mutating func reverse(_ day: Int) {
    guard let last = documents[0].last else { return }
    isRefunded = false
    documents[0].append(last.givenBack(on: Int64(day)))
    ownDays[0].formUnion(Int(last.purchaseDay)..<periodEnd)
    for person in 1..<6 where isInFamily[person] { share(person, from: day) }
  }

  private mutating func buy(_ person: Int, _ day: Int, _ random: inout SplitMix64) {
    let end = day + Int.random(in: 5...40, using: &random)
    let bought = period(Int64(day)...Int64(end), line: "own-\(person)-\(day)")
    documents[person].append(bought)
    guard random.one(in: 3) else { return ownDays[person].formUnion(day..<end) }
    let refunded = Int.random(in: day..<end, using: &random)
    documents[person].append(bought.revoked(on: Int64(refunded)))
    ownDays[person].formUnion(day..<refunded)
  }
}

extension TransactionFact {
  fileprivate var purchaseDay: Int64 { purchaseDate.milliseconds(since: at(0)) / 86_400_000 }
}

extension SplitMix64 {
  /// Returns true in one of `count` cases.
  mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
