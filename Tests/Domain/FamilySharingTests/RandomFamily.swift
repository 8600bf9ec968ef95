import AppStore
import Entitlements
import TestSupport

/// A purchaser and five others over 120 days: they join and leave, periods are refunded and given back, members
/// buy for themselves. Apple's documents are collected as they are signed, and beside them, in the plainest
/// way, on which days who has access.
struct RandomFamily {
  /// The days that are looked at.
  static let days = 120

  /// What Apple signed for each of the six, the purchaser first.
  private(set) var documents: [[TransactionFact]] = Array(repeating: [], count: 6)
  /// The oracle: the days on which each has access, by an own purchase and by a shared one.
  private(set) var ownDays: [Set<Int>] = Array(repeating: [], count: 6)
  private(set) var sharedDays: [Set<Int>] = Array(repeating: [], count: 6)

  private var isInFamily = [true, false, false, false, false, false]
  private var isRefunded = false
  private var periodEnd = 30

  init(_ random: inout SplitMix64) {
    for day in 0..<Self.days {
      if day % 30 == 0 { renew(day) }
      // One thing a day, so that no two documents about one person are signed at once.
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
