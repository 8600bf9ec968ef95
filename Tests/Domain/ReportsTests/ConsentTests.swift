import AppStore
import Entitlements
import Reports
import Testing

/// Withdrawn consents, by the day of the withdrawal. The deadline is 30 days later.
@Suite struct ConsentTests {
  private func answer(_ settlements: [String], at now: String) throws -> [Int64] {
    let consents = WithdrawnConsent.all(
      ofLine: "app-1", withdrawals: ["10-20", "10-05", "10-05"].map(World.day),
      settlements: settlements.map(World.day))
    let postings = PayerPostings(CustomerFacts(), in: World.app, at: World.day(now), consents: consents)
      .postings
    let answer = try Answer(.consents, "10-01", "12-31", of: postings.map { ($0, $0.effectiveAt) })
    return answer("withdrawn", "settled", "overdue", "open", on: "10-01")
  }

  @Test("A settlement is of all withdrawals before it")
  func settlements() throws {
    #expect(try answer([], at: "10-25") == [2, 0, 0, 2])
    #expect(try answer(["10-10"], at: "10-25") == [2, 1, 0, 1])
    #expect(try answer(["10-22"], at: "10-25") == [2, 2, 0, 0])
    #expect(try answer(["10-01"], at: "10-25") == [2, 0, 0, 2])
  }

  @Test("A withdrawal that is open at its deadline stays overdue, also when it is settled")
  func deadlines() throws {
    #expect(try answer([], at: "11-03") == [2, 0, 0, 2])
    #expect(try answer([], at: "11-04") == [2, 0, 1, 2])
    #expect(try answer(["11-10"], at: "11-30") == [2, 2, 1, 0])
    #expect(try answer([], at: "11-30") == [2, 0, 2, 2])
  }

  @Test("The deadline is derived when it is due")
  func due() {
    let consents = WithdrawnConsent.all(
      ofLine: "app-1", withdrawals: [World.day("10-05")], settlements: [])
    let found = PayerPostings(CustomerFacts(), in: World.app, at: World.day("10-06"), consents: consents)
    #expect(found.due == World.day("11-04"))
    #expect(found.postings.map(\.kind) == [.consentWithdrawn])
  }
}
