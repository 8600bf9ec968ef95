import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Payments in the grace period, which Apple dates with the payment and postings with the period.
@Suite struct GracePaymentTests {
  /// A renewal of 9.99 whose period starts on the 14th, and that is paid on the 24th, in the grace period.
  private let paidInGrace = [
    flowPosting(.graceEntered, "A", "2026-10-14T20:00:00Z"),
    flowPosting(.renewed, "A", "2026-10-14T20:00:00Z"),
    moneyPosting("A", "2026-10-14T20:00:00Z", knownAt: "2026-10-24T20:00:00Z"),
    flowPosting(.graceRecovered, "A", "2026-10-24T20:00:00Z"),
  ]

  @Test("A renewal that is paid in the grace period is matched on the day of the payment")
  func paymentInGrace() throws {
    let events = try reconcile(
      .subscriptionEvent,
      [
        eventRow("Grace Period from Paid Subscription", "2026-10-14"),
        eventRow("Renewal from Grace Period", "2026-10-24"),
      ], paidInGrace)
    #expect(events.matched == 2 && events.isClean)
    let charges = try reconcile(
      .subscriber, [subscriberRow("2026-10-24")], paidInGrace, emptyDays: ["2026-10-14"])
    #expect(charges.matched == 1 && charges.isClean)
  }

  @Test("A payment in the grace period that Apple has on the day on which the period starts is explained")
  func datedBack() throws {
    let row = [subscriberRow("2026-10-14")]
    let charges = try reconcile(.subscriber, row, paidInGrace, emptyDays: ["2026-10-24"])
    #expect(charges.days[0].explained.map(\.rule) == [.gracePeriod])
    #expect(charges.isClean)
    let converted =
      paidInGrace.filter { $0.posting.kind != .renewed }
      + [flowPosting(.converted, "A", "2026-10-24T20:00:00Z")]
    let event = [eventRow("Paid Subscription from Introductory Offer", "2026-10-14")]
    let events = try reconcile(.subscriptionEvent, event, converted, emptyDays: ["2026-10-24"])
    #expect(events.days[0].explained.map(\.rule) == [.gracePeriod])
    #expect(events.unexplained.map(\.bucket.subject) == [.flow(.graceEntered)])
  }

  @Test(
    "A payment in the grace period whose period starts before the days of the comparison explains one row")
  func earlierPeriod() throws {
    let recovered = paidInGrace.suffix(1)
    let row = subscriberRow("2026-10-24")
    let charge = try reconcile(.subscriber, [row], Array(recovered))
    #expect(charge.days[0].explained.map(\.rule) == [.gracePeriod])
    #expect(charge.isClean)
    let two = try reconcile(.subscriber, [row, row], Array(recovered))
    #expect(two.unexplained.map(\.kind) == [.neverSeen])
    let event = eventRow("Renewal from Grace Period", "2026-10-24")
    #expect(try reconcile(.subscriptionEvent, [event], Array(recovered)).isClean)
    let conversion = flowPosting(.converted, "A", "2026-10-24T20:00:00Z")
    let events = try reconcile(.subscriptionEvent, [event, event], recovered + [conversion])
    #expect(events.matched == 1 && events.unexplained.map(\.kind) == [.neverSeen])
    // A period that starts with its payment is among the postings.
    let started =
      recovered + [
        moneyPosting("A", "2026-10-24T20:00:00Z"), flowPosting(.renewed, "A", "2026-10-24T20:00:00Z"),
      ]
    #expect(try reconcile(.subscriber, [row, row], Array(started)).unexplained.map(\.kind) == [.neverSeen])
  }
}
