import AppStore
import Entitlements
import Reports
import Testing

/// The totals that customers have paid, by the prices of their purchases.
@Suite struct PaidTotalsTests {
  private func totals(_ facts: CustomerFacts, at day: String = "10-31") -> PaidTotals {
    PaidTotals(facts, in: World.app, at: World.day(day))
  }

  @Test("Charges are added up by currency and refunds are subtracted")
  func sums() throws {
    let facts = World.facts(
      "P",
      [
        World.period("monthly", "09-05", "10-05"),
        World.period("monthly", "10-05", "11-05").with {
          $0.revocationDate = World.day("10-10")
          $0.details.revocationPercentage = 50_000
        },
        World.german(World.period("weekly", "10-19", "10-26")),
      ])
    let found = totals(facts)
    let dollars = try #require(found.sums.first { $0.currency == "USD" })
    #expect([dollars.charged, dollars.refunded, dollars.total] == [19_980, 4_995, 14_985])
    #expect(found.sums.map(\.currency) == ["EUR", "USD"])
    #expect(found.unpriced == 0)
  }

  @Test("Sums and differences beyond the numbers of 64 bits stay at the bounds")
  func bounds() {
    #expect(Int64.max.addingSaturated(1) == .max && Int64.min.addingSaturated(-1) == .min)
    #expect(Int64(0).subtractingSaturated(.min) == .max && Int64(-2).subtractingSaturated(.max) == .min)
    #expect(Int64(3).subtractingSaturated(-2) == 5)
  }

  @Test("A past instant leaves out later charges and refunds")
  func past() throws {
    let facts = World.facts(
      "P",
      [
        World.period("monthly", "09-05", "10-05").with { $0.revocationDate = World.day("09-20") },
        World.period("monthly", "10-05", "11-05"),
      ])
    #expect(totals(facts, at: "09-10").sums.map(\.total) == [9_990])
    #expect(totals(facts, at: "09-25").sums.map(\.total) == [0])
    #expect(totals(facts).sums.map(\.total) == [9_990])
  }

  @Test("A reversed refund counts as paid again")
  func reversal() {
    let facts = World.facts(
      "P",
      [
        World.period("monthly", "10-05", "11-05").with {
          $0.details.refunds = [.init(date: World.day("10-10"), percentage: nil)]
          $0.details.reversals = [World.day("10-20")]
        }
      ])
    #expect(totals(facts, at: "10-15").sums.map(\.refunded) == [9_990])
    #expect(totals(facts).sums.map { [$0.refunded, $0.total] } == [[0, 9_990]])
  }

  @Test("Shared purchases are not included, and purchases without a price are counted")
  func unknown() {
    let shared = World.period("monthly", "10-05", "11-05").with { $0.ownership = .familyShared }
    #expect(totals(World.facts("P", [shared])).sums.isEmpty)
    let unpriced = World.period("monthly", "10-05", "11-05").with { $0.details.price = nil }
    let found = totals(World.facts("P", [unpriced]))
    #expect(found.sums.isEmpty && found.unpriced == 1)
  }
}
