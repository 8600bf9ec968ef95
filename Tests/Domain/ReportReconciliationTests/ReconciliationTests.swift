import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// The comparison of Apple's reports with postings.
@Suite struct ReconciliationTests {
  private static let products: Set<String> = ["weekly", "monthly", "coins"]

  private static func at(_ text: String) -> Instant { Instant(rfc3339: text)! }

  /// A charge of 9.99 in the USA, or a refund.
  private static func money(
    _ id: String, _ time: String, _ kind: Posting.Kind = .charge, price: Int64 = 9_990,
    product: String = "monthly", country: String = "USA", share: Int64 = 70, reason: String = "SUBSCRIPTION",
    knownAt: String? = nil
  ) -> KnownPosting {
    var posting = Posting(
      kind, at: at(time), line: id, transactionID: id,
      Posting.Dimensions(productID: product, group: "pro", storefront: country))
    let sign: Int64 = kind == .charge ? 1 : -1
    (posting.count, posting.amount) = (1, sign * price)
    posting.proceeds = sign * price * share / 100
    (posting.currency, posting.reason) = ("USD", kind == .charge ? reason : "FULL")
    return KnownPosting(posting, knownAt: at(knownAt ?? time))
  }

  private static func flow(
    _ kind: Posting.Kind, _ id: String, _ time: String, offer: String = "", product: String = "monthly"
  ) -> KnownPosting {
    var posting = Posting(
      kind, at: at(time), line: id, transactionID: id,
      Posting.Dimensions(productID: product, group: "pro", storefront: "USA", offerKind: offer))
    posting.count = 1
    return KnownPosting(posting, knownAt: at(time))
  }

  private static func row(
    _ day: String, price: String = "9.99", proceeds: String = "6.99", units: String = "1",
    refund: String = "", product: String = "monthly", country: String = "US", reason: String = ""
  ) -> [String: String] {
    [
      "Event Date": day, "Subscription Name": product, "Subscription Apple ID": "1\(product.utf8.count)",
      "Customer Price": price, "Customer Currency": "USD", "Developer Proceeds": proceeds,
      "Proceeds Currency": "USD", "Proceeds Reason": reason, "Country": country, "Subscriber ID": "77",
      "Refund": refund, "Units": units,
    ]
  }

  private static func event(
    _ name: String, _ day: String, quantity: Int = 1, offer: String = "", product: String = "monthly"
  ) -> [String: String] {
    [
      "Event Date": day, "Event": name, "Subscription Name": product, "Country": "US",
      "Subscription Offer Type": offer, "Quantity": "\(quantity)",
    ]
  }

  private func reconcile(
    _ kind: AppStoreReport, _ rows: [[String: String]], _ postings: [KnownPosting],
    name: String = "2026-10-24.txt", emptyDays: [String] = [], appleID: String? = nil
  ) throws -> ReconciliationResult {
    var table = TabularText(columns: kind.columns)
    for row in rows { table.append(row) }
    let document = try ReportDocument(name: name, text: table.text)
    #expect(document.kind == kind)
    let names = ProductNames(given: [:], known: Self.products, learnedFrom: [document])
    let empty = TabularText(columns: kind.columns).text
    let others = try emptyDays.map { try ReportDocument(name: "\($0).txt", text: empty) }
    return try ReportComparison([document] + others, products: names, appleID: appleID, zone: .pacific)
      .result(postings)
  }

  @Test(
    "Equal charges are matched, and the report of the paper's example finds the refund that was never seen")
  func neverSeen() throws {
    let result = try reconcile(
      .subscriber,
      [
        Self.row("2026-10-24"), Self.row("2026-10-24"),
        Self.row(
          "2026-10-24", price: "-2.99", proceeds: "-2.09", units: "-1", refund: "Yes", product: "weekly"),
        Self.row(
          "2026-10-24", price: "-2.99", proceeds: "-2.09", units: "-1", refund: "Yes", product: "weekly"),
      ],
      [
        Self.money("A", "2026-10-24T12:00:00Z"), Self.money("B", "2026-10-25T06:59:59Z"),
        Self.money("G", "2026-10-24T20:00:00Z", .refund, price: 2_990, product: "weekly"),
      ])
    #expect(result.matched == 3)
    #expect(!result.isClean)
    let finding = try #require(result.unexplained.first)
    #expect(result.unexplained.count == 1)
    #expect(finding.kind == .neverSeen)
    #expect(finding.bucket.subject == .refund)
    #expect(finding.bucket.productID == "weekly")
    #expect((finding.appleQuantity, finding.ourQuantity) == (2, 1))
    #expect(finding.candidates == ["G"])
    #expect(finding.rows == ["2026-10-24.txt:4", "2026-10-24.txt:5"])
  }

  @Test("A charge that Apple lacks is a finding with our transactions")
  func notPaid() throws {
    let result = try reconcile(
      .subscriber, [Self.row("2026-10-24")],
      [Self.money("A", "2026-10-24T12:00:00Z"), Self.money("B", "2026-10-24T12:00:00Z")])
    #expect(result.unexplained.map(\.kind) == [.notPaid])
    #expect(result.unexplained[0].candidates == ["A", "B"])
  }

  @Test("A charge of the day before in the other zone is explained")
  func timeZone() throws {
    // 23:30 in California is the next day in UTC, which is how this report was made.
    let charge = [Self.money("A", "2026-10-24T06:30:00Z")]
    let result = try reconcile(.subscriber, [Self.row("2026-10-24")], charge, emptyDays: ["2026-10-23"])
    #expect(result.days.map(\.day.description) == ["2026-10-23", "2026-10-24"])
    #expect(result.days[1].explained.map(\.rule) == [.timeZone])
    #expect(result.days[1].explained[0].candidates == ["A"])
    #expect(result.isClean)
  }

  @Test("Purchases of days without a report explain nothing")
  func otherDays() throws {
    let result = try reconcile(
      .subscriber, [Self.row("2026-10-24")],
      [Self.money("A", "2026-10-24T06:30:00Z"), Self.money("B", "2026-10-23T12:00:00Z")])
    #expect(result.unexplained.map(\.kind) == [.neverSeen])
  }

  @Test("Apple's row on one of the next three days is explained, and on the fourth it is not")
  func lateClose() throws {
    let charge = [Self.money("A", "2026-10-21T19:00:00Z")]
    let result = try reconcile(.subscriber, [Self.row("2026-10-24")], charge, emptyDays: ["2026-10-21"])
    #expect(result.days[1].explained.map(\.rule) == [.lateClose])
    #expect(result.isClean)
    let late = try reconcile(
      .subscriber, [Self.row("2026-10-25")], charge, name: "2026-10-25.txt", emptyDays: ["2026-10-21"])
    #expect(late.unexplained.map(\.kind) == [.notPaid, .neverSeen])
  }

  @Test("Evidence that became known after the report explains a difference")
  func knownLate() throws {
    let result = try reconcile(
      .subscriber, [],
      [Self.money("A", "2026-10-24T19:00:00Z", knownAt: "2026-10-25T15:00:01Z")])
    #expect(result.days[0].explained.map(\.rule) == [.lateClose])
    let known = try reconcile(
      .subscriber, [], [Self.money("A", "2026-10-24T19:00:00Z", knownAt: "2026-10-25T15:00:00Z")])
    #expect(known.unexplained.map(\.kind) == [.notPaid])
  }

  @Test("A renewal that Apple charged a day before the period is explained, and a refund is not")
  func earlyRenewal() throws {
    let result = try reconcile(
      .subscriptionEvent, [Self.event("Renew", "2026-10-24")],
      [Self.flow(.renewed, "A", "2026-10-25T20:00:00Z")], emptyDays: ["2026-10-25"])
    #expect(result.days[0].explained.map(\.rule) == [.earlyRenewal])
    #expect(result.isClean)
    let refund = try reconcile(
      .subscriptionEvent, [Self.event("Refund", "2026-10-24")],
      [Self.money("A", "2026-10-25T20:00:00Z", .refund)], emptyDays: ["2026-10-25"])
    #expect(refund.unexplained.count == 2)
  }

  /// A renewal of 9.99 whose period starts on the 14th, and that is paid on the 24th, in the grace period.
  private static let paidInGrace = [
    flow(.graceEntered, "A", "2026-10-14T20:00:00Z"), flow(.renewed, "A", "2026-10-14T20:00:00Z"),
    money("A", "2026-10-14T20:00:00Z", knownAt: "2026-10-24T20:00:00Z"),
    flow(.graceRecovered, "A", "2026-10-24T20:00:00Z"),
  ]

  @Test("A renewal that is paid in the grace period is matched on the day of the payment")
  func paymentInGrace() throws {
    let events = try reconcile(
      .subscriptionEvent,
      [
        Self.event("Grace Period from Paid Subscription", "2026-10-14"),
        Self.event("Renewal from Grace Period", "2026-10-24"),
      ], Self.paidInGrace)
    #expect(events.matched == 2 && events.isClean)
    let charges = try reconcile(
      .subscriber, [Self.row("2026-10-24")], Self.paidInGrace, emptyDays: ["2026-10-14"])
    #expect(charges.matched == 1 && charges.isClean)
  }

  @Test("A payment in the grace period that Apple has on the day on which the period starts is explained")
  func datedBack() throws {
    let row = [Self.row("2026-10-14")]
    let charges = try reconcile(.subscriber, row, Self.paidInGrace, emptyDays: ["2026-10-14"])
    #expect(charges.days[0].explained.map(\.rule) == [.gracePeriod])
    #expect(charges.isClean)
    let converted =
      Self.paidInGrace.filter { $0.posting.kind != .renewed }
      + [Self.flow(.converted, "A", "2026-10-24T20:00:00Z")]
    let event = [Self.event("Paid Subscription from Introductory Offer", "2026-10-14")]
    let events = try reconcile(.subscriptionEvent, event, converted)
    #expect(events.days[0].explained.map(\.rule) == [.gracePeriod])
    #expect(events.unexplained.map(\.bucket.subject) == [.flow(.graceEntered)])
  }

  @Test(
    "A payment in the grace period whose period starts before the days of the comparison explains one row")
  func earlierPeriod() throws {
    let recovered = Self.paidInGrace.suffix(1)
    let row = Self.row("2026-10-24")
    let charge = try reconcile(.subscriber, [row], Array(recovered))
    #expect(charge.days[0].explained.map(\.rule) == [.gracePeriod])
    #expect(charge.isClean)
    let two = try reconcile(.subscriber, [row, row], Array(recovered))
    #expect(two.unexplained.map(\.kind) == [.neverSeen])
    let event = Self.event("Renewal from Grace Period", "2026-10-24")
    #expect(try reconcile(.subscriptionEvent, [event], Array(recovered)).isClean)
    let conversion = Self.flow(.converted, "A", "2026-10-24T20:00:00Z")
    let events = try reconcile(.subscriptionEvent, [event, event], recovered + [conversion])
    #expect(events.matched == 1 && events.unexplained.map(\.kind) == [.neverSeen])
    // A period that starts with its payment is among the postings.
    let started =
      recovered + [Self.money("A", "2026-10-24T20:00:00Z"), Self.flow(.renewed, "A", "2026-10-24T20:00:00Z")]
    #expect(try reconcile(.subscriber, [row, row], Array(started)).unexplained.map(\.kind) == [.neverSeen])
  }

  @Test(
    "Each event of Apple's meets the posting that means the same",
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
      .subscriptionEvent, [Self.event(name, "2026-10-24")], [Self.flow(kind, "A", "2026-10-24T20:00:00Z")])
    #expect(result.matched == 1)
    #expect(result.isClean)
  }

  @Test("One period is one event, whatever else it changes, and another name for it is explained")
  func periods() throws {
    let postings = [
      Self.flow(.renewed, "A", "2026-10-24T20:00:00Z"), Self.flow(.downgraded, "A", "2026-10-24T20:00:00Z"),
      Self.flow(.converted, "B", "2026-10-24T20:00:00Z"),
    ]
    let result = try reconcile(
      .subscriptionEvent,
      [Self.event("Downgrade", "2026-10-24"), Self.event("Upgrade from Introductory Offer", "2026-10-24")],
      postings)
    #expect(result.matched == 1)
    #expect(result.days[0].explained.map(\.rule) == [.eventName])
    #expect(result.isClean)
  }

  @Test("An unknown event is listed with its quantity, and nothing is clean then")
  func unknownEvent() throws {
    let result = try reconcile(.subscriptionEvent, [Self.event("Gift", "2026-10-24", quantity: 3)], [])
    #expect(result.notes.map(\.code) == ["UNKNOWN_EVENT"])
    #expect(result.notes[0].quantity == 3)
    #expect(!result.isClean)
    #expect(result.days.map(\.unknownRows) == [1])
    #expect(result.days.map(\.files) == [["2026-10-24.txt"]])
  }

  @Test("Proceeds that are not the share of the price are findings of their rows")
  func proceeds() throws {
    let result = try reconcile(
      .subscriber,
      [
        Self.row("2026-10-24"), Self.row("2026-10-24", proceeds: "7.99"),
        Self.row("2026-10-24", proceeds: "8.49", reason: "Rate After One Year"),
      ],
      [
        Self.money("A", "2026-10-24T12:00:00Z"), Self.money("B", "2026-10-24T12:00:00Z"),
        Self.money("C", "2026-10-24T12:00:00Z", share: 85),
      ])
    #expect(result.matched == 3)
    #expect(result.unexplained.map(\.kind) == [.proceeds])
    #expect(result.unexplained[0].rows == ["2026-10-24.txt:3"])
  }

  @Test("Proceeds that are less by one tax in all rows of a country are explained, but one row is not")
  func tax() throws {
    let ids = ["A", "B", "C", "D", "E", "F", "G"]
    let rows = ids.map {
      Self.row("2026-10-24", proceeds: $0 == "G" ? "6.47" : "5.88", country: "DE")
    }
    let result = try reconcile(
      .subscriber, rows, ids.map { Self.money($0, "2026-10-24T12:00:00Z", country: "DEU") })
    #expect(result.days[0].explained.map(\.rule) == Array(repeating: .tax, count: 6))
    #expect(result.unexplained.map(\.kind) == [.proceeds])
  }

  @Test("A refund of a part of the price may differ by the rounding of Apple's amount")
  func partialRefund() throws {
    var refund = Self.money("A", "2026-10-24T12:00:00Z", .refund, price: 3_336)
    var posting = refund.posting
    posting.reason = "PRORATED"
    refund = KnownPosting(posting, knownAt: refund.knownAt)
    let row = Self.row("2026-10-24", price: "-3.33", proceeds: "-2.33", units: "0", refund: "Yes")
    let result = try reconcile(.subscriber, [row], [refund])
    #expect(result.days[0].explained.map(\.rule) == [.partialRefund])
    #expect(result.isClean)
  }

  @Test("A refund near the estimated credit of an upgrade is explained")
  func upgradeCredit() throws {
    let credit = Self.money("A", "2026-10-24T12:00:00Z", .upgradeCredit, price: 7_412)
    let row = Self.row("2026-10-24", price: "-7.50", proceeds: "-5.25", units: "-1", refund: "Yes")
    #expect(try reconcile(.subscriber, [row], [credit]).days[0].explained.map(\.rule) == [.upgradeCredit])
    let other = Self.row("2026-10-24", price: "-2.00", proceeds: "-1.40", units: "-1", refund: "Yes")
    #expect(try reconcile(.subscriber, [other], [credit]).unexplained.count == 1)
  }

  @Test("Several pieces of one transaction are explained by their price")
  func quantity() throws {
    let sale = [
      "SKU": "coins", "Product Type Identifier": "IA1", "Units": "3", "Developer Proceeds": "0.69",
      "Begin Date": "10/24/2026", "End Date": "10/24/2026", "Customer Currency": "USD", "Country Code": "US",
      "Currency of Proceeds": "USD", "Apple Identifier": "5", "Customer Price": "0.99",
    ]
    let charge = Self.money(
      "A", "2026-10-24T12:00:00Z", price: 2_970, product: "coins", reason: "CONSUMABLE")
    let result = try reconcile(.sales, [sale], [charge])
    #expect(result.days[0].explained.map(\.rule) == [.quantity])
    #expect(result.isClean)
  }

  @Test("Restored purchases and products of other apps are not compared with ours")
  func otherSales() throws {
    let sale = [
      "SKU": "coins", "Product Type Identifier": "IA3", "Units": "1", "Begin Date": "10/24/2026",
      "End Date": "10/24/2026", "Country Code": "US", "Customer Price": "0",
    ]
    let other = sale.merging(["SKU": "other", "Product Type Identifier": "IAY"]) { $1 }
    let result = try reconcile(.sales, [sale, other], [], appleID: "1")
    #expect(result.notes.map(\.code) == ["OTHER_PRODUCT"])
    #expect(result.isClean)
  }

  @Test("Stocks are the sum before and the changes up to the end of the day in Pacific Time")
  func stocks() throws {
    func stock(_ kind: Posting.Kind, _ id: String, _ time: String, _ count: Int64) -> KnownPosting {
      var known = Self.flow(kind, id, time).posting
      (known.count, known.amount, known.currency) = (count, kind == .active ? count * 119_880 : 0, "USD")
      return KnownPosting(known, knownAt: Self.at(time))
    }
    let postings = [
      stock(.active, "", "2026-10-20T00:00:00Z", 4), stock(.active, "A", "2026-10-24T20:00:00Z", -1),
      stock(.inRetry, "A", "2026-10-24T20:00:00Z", 1), stock(.active, "B", "2026-10-25T08:00:00Z", 1),
    ]
    let row = [
      "Subscription Name": "monthly", "Country": "US", "Standard Subscription Duration": "1 Month",
      "Customer Price": "9.99", "Customer Currency": "USD", "Developer Proceeds": "6.99",
      "Proceeds Currency": "USD", "Active Standard Price Subscriptions": "3", "Billing Retry": "1",
      "Subscribers": "4",
    ]
    let result = try reconcile(.subscription, [row], postings)
    #expect(result.isClean)
    #expect(result.matched == 4)
    let higher = row.merging(["Customer Price": "10.99", "Developer Proceeds": "7.69"]) { $1 }
    #expect(try reconcile(.subscription, [higher], postings).unexplained.count == 1)
    let more = row.merging(["Billing Retry": "2"]) { $1 }
    let found = try reconcile(.subscription, [more], postings)
    #expect(found.unexplained.map(\.bucket.subject) == [.stock("Billing Retry")])
  }

  @Test("Finance is compared by product, country and fiscal month, and differences are listed only")
  func finance() throws {
    let row = [
      "Start Date": "09/27/2026", "End Date": "10/31/2026", "Vendor Identifier": "monthly", "Quantity": "3",
      "Extended Partner Share": "20.97", "Partner Share Currency": "USD", "Sale or Return": "S",
      "Country Of Sale": "US",
    ]
    let back = row.merging(["Quantity": "1", "Extended Partner Share": "6.99", "Sale or Return": "R"]) { $1 }
    let result = try reconcile(
      .finance, [row, back],
      [
        Self.money("A", "2026-10-24T12:00:00Z"), Self.money("B", "2026-10-31T12:00:00Z"),
        Self.money("C", "2026-11-01T12:00:00Z"),
      ], name: "finance.txt")
    let month = try #require(result.finance.first)
    #expect(result.finance.count == 1)
    #expect(month.month?.description == "2027-01")
    #expect((month.appleQuantity, month.ourQuantity) == (2, 2))
    #expect((month.appleShare, month.ourShare) == (13_980, 13_986))
    #expect(result.isClean)
  }

  @Test(
    "A file that is no report, lacks a column or has a value that cannot be read is refused with its name")
  func refused() throws {
    #expect(throws: ReportError.unknownReport("a.txt")) {
      try ReportDocument(name: "a.txt", text: "A\tB\n1\t2\n")
    }
    #expect(throws: ReportError.missingColumns("a.txt", ["Event Date", "Customer Price"])) {
      let columns = AppStoreReport.subscriber.columns.filter {
        !["Event Date", "Customer Price"].contains($0)
      }
      _ = try ReportDocument(name: "a.txt", text: columns.joined(separator: "\t") + "\n")
    }
    #expect(throws: ReportError.noDate("stock.txt")) {
      _ = try ReportDocument(
        name: "stock.txt", text: AppStoreReport.subscription.columns.joined(separator: "\t") + "\n")
    }
    #expect(throws: ReportError.malformed("2026-10-24.txt", line: 2, column: "Units", value: "one")) {
      try reconcile(.subscriber, [Self.row("2026-10-24", units: "one")], [])
    }
  }

  @Test("Columns are found without regard to case, and unknown ones are named")
  func columns() throws {
    var table = TabularText(
      columns: AppStoreReport.subscriber.columns.map { $0.lowercased() } + ["New Column"])
    table.rows = []
    let document = try ReportDocument(name: "Subscriber_85120115_20261024_V1_3.txt.gz", text: table.text)
    #expect(document.unknownColumns == ["New Column"])
    #expect(document.day?.description == "2026-10-24")
  }
}
