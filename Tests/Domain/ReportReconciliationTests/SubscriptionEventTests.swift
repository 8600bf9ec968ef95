import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Apple's subscription events, matched with postings.
@Suite struct SubscriptionEventTests {
  @Test(
    "Each event of Apple's matches the posting with the same meaning",
    arguments: [
      ("Subscribe", Posting.Kind.startedPaid), ("Reactivate with Upgrade", .resubscribed),
      ("Start Introductory Price", .trialStarted), ("Renew", .renewed),
      ("Paid Subscription from Introductory Offer", .converted), ("Renewal from Billing Retry", .recovered),
      ("Billing Retry from Paid Subscription", .lapsedBilling),
      ("Billing Retry from Introductory Offer", .trialLapsedBilling),
      ("Grace Period from Paid Subscription", .graceEntered), ("Cancel", .lapsedVoluntary),
      ("Cancelled from Billing Retry", .retryLost), ("Canceled from Billing Retry", .retryCancelled),
      ("Canceled from Billing Grace Period", .lapsedVoluntary), ("Upgrade", .upgraded),
      ("Crossgrade", .crossgraded), ("Downgrade", .downgraded),
    ])
  func events(_ name: String, _ kind: Posting.Kind) throws {
    let result = try reconcile(
      .subscriptionEvent, [eventRow(name, "2026-10-24")], [flowPosting(kind, "A", "2026-10-24T20:00:00Z")])
    #expect(result.matched == 1)
    #expect(result.isClean)
  }

  @Test("One period is one event, whatever else it changes, and its other name is explained")
  func periods() throws {
    let postings = [
      flowPosting(.renewed, "A", "2026-10-24T20:00:00Z"),
      flowPosting(.downgraded, "A", "2026-10-24T20:00:00Z"),
      flowPosting(.converted, "B", "2026-10-24T20:00:00Z"),
    ]
    let result = try reconcile(
      .subscriptionEvent,
      [eventRow("Downgrade", "2026-10-24"), eventRow("Upgrade from Introductory Offer", "2026-10-24")],
      postings)
    #expect(result.matched == 1)
    #expect(result.days[0].explained.map(\.rule) == [.eventName])
    #expect(result.isClean)
  }

  @Test("A refund that ends billing retry is one event of Apple's, the refund")
  func refundInRetry() throws {
    var refund = flowPosting(.refund, "A", "2026-10-24T20:00:00Z").posting
    refund.amount = -9_990_000
    var ending = flowPosting(.retryCancelled, "A", "2026-10-24T20:00:00Z").posting
    ending.reason = "REFUND"
    let result = try reconcile(
      .subscriptionEvent, [eventRow("Refund", "2026-10-24")],
      [refund, ending].map { KnownPosting($0, knownAt: instant("2026-10-24T20:00:00Z")) })
    #expect(result.matched == 1)
    #expect(result.isClean)
  }

  @Test("An unknown event is noted with its quantity, and the result is not clean")
  func unknownEvent() throws {
    let result = try reconcile(.subscriptionEvent, [eventRow("Gift", "2026-10-24", quantity: 3)], [])
    #expect(result.notes.map(\.code) == [.unknownEvent])
    #expect(result.notes[0].quantity == 3)
    #expect(!result.isClean)
    #expect(result.days.map(\.unknownRows) == [1])
    #expect(result.days.map(\.files) == [["2026-10-24.txt"]])
  }
}
