import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Differences that another day explains: the time zone, a late close, an early renewal, late evidence.
@Suite struct MovedDayTests {
  @Test("A charge of the day before in the other zone is explained")
  func timeZone() throws {
    // 23:30 in California is the next day in UTC, which is how this report was made.
    let charge = [moneyPosting("A", "2026-10-24T06:30:00Z")]
    let result = try reconcile(.subscriber, [subscriberRow("2026-10-24")], charge, emptyDays: ["2026-10-23"])
    #expect(result.days.map(\.day.description) == ["2026-10-23", "2026-10-24"])
    #expect(result.days[1].explained.map(\.rule) == [.timeZone])
    #expect(result.days[1].explained[0].candidates == ["A"])
    #expect(result.isClean)
  }

  @Test("Purchases of days without a report explain nothing")
  func otherDays() throws {
    let result = try reconcile(
      .subscriber, [subscriberRow("2026-10-24")],
      [moneyPosting("A", "2026-10-24T06:30:00Z"), moneyPosting("B", "2026-10-23T12:00:00Z")])
    #expect(result.unexplained.map(\.kind) == [.neverSeen])
  }

  @Test("Apple's row on one of the next three days is explained, and on the fourth it is not")
  func lateClose() throws {
    let charge = [moneyPosting("A", "2026-10-21T19:00:00Z")]
    let result = try reconcile(.subscriber, [subscriberRow("2026-10-24")], charge, emptyDays: ["2026-10-21"])
    #expect(result.days[1].explained.map(\.rule) == [.lateClose])
    #expect(result.isClean)
    let late = try reconcile(
      .subscriber, [subscriberRow("2026-10-25")], charge, name: "2026-10-25.txt", emptyDays: ["2026-10-21"])
    #expect(late.unexplained.map(\.kind) == [.notPaid, .neverSeen])
  }

  @Test("Evidence that became known after the report explains a difference")
  func knownLate() throws {
    let result = try reconcile(
      .subscriber, [],
      [moneyPosting("A", "2026-10-24T19:00:00Z", knownAt: "2026-10-25T15:00:01Z")])
    #expect(result.days[0].explained.map(\.rule) == [.lateClose])
    let known = try reconcile(
      .subscriber, [], [moneyPosting("A", "2026-10-24T19:00:00Z", knownAt: "2026-10-25T15:00:00Z")])
    #expect(known.unexplained.map(\.kind) == [.notPaid])
  }

  @Test("A renewal that Apple charged a day before the period is explained, and a refund is not")
  func earlyRenewal() throws {
    let result = try reconcile(
      .subscriptionEvent, [eventRow("Renew", "2026-10-24")],
      [flowPosting(.renewed, "A", "2026-10-25T20:00:00Z")], emptyDays: ["2026-10-25"])
    #expect(result.days[0].explained.map(\.rule) == [.earlyRenewal])
    #expect(result.isClean)
    let refund = try reconcile(
      .subscriptionEvent, [eventRow("Refund", "2026-10-24")],
      [moneyPosting("A", "2026-10-25T20:00:00Z", .refund)], emptyDays: ["2026-10-25"])
    #expect(refund.unexplained.count == 2)
  }
}
