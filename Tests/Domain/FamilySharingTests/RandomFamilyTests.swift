import AppStore
import Entitlements
import FamilySharing
import TestSupport
import Testing

/// Families and groups to whom everything happened, against the plainest account of it.
@Suite struct RandomFamilyTests {
  @Test("Each of six has access exactly on the days of the oracle, whatever the order of arrival")
  func families() {
    var random = SplitMix64(state: 5)
    for _ in 0..<60 {
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
          // Who pays for themselves is answered from what they paid for.
          if own.contains(day) { #expect(status.deciding?.ownership == .purchased) }
        }
      }
    }
  }

  @Test("Seats are held by those who claimed first, never by more than were bought")
  func groups() {
    var random = SplitMix64(state: 6)
    for _ in 0..<60 {
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

/// A purchase whose number of seats changes from period to period, and claims that come and go.
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

  /// Who has access at noon: of the claims that are held then, as many of the first as there are seats.
  func holders(on day: Int) -> Set<String> {
    let noon = at(Int64(day), hours: 12)
    guard let running = periods.first(where: { $0.purchaseDate <= noon && noon < $0.expiresDate! }) else {
      return []
    }
    let held = seats.filter { $0.claimedAt <= noon && noon < $0.releasedAt ?? at(1_000) }
      .sorted { $0.claimedAt < $1.claimedAt }
    return Set(held.prefix(Int(running.quantity - (running.revokedSeatQuantity ?? 0))).map(\.seatID))
  }
}
