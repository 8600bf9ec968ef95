import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Charges and refunds of subscribers, matched with postings.
@Suite struct ChargeMatchingTests {
  @Test("Equal charges are matched, and a refund of Apple's without a posting is reported as never seen")
  func neverSeen() throws {
    let result = try reconcile(
      .subscriber,
      [
        subscriberRow("2026-10-24"), subscriberRow("2026-10-24"),
        subscriberRow(
          "2026-10-24", price: "-2.99", proceeds: "-2.09", units: "-1", refund: "Yes", product: "weekly"),
        subscriberRow(
          "2026-10-24", price: "-2.99", proceeds: "-2.09", units: "-1", refund: "Yes", product: "weekly"),
      ],
      [
        moneyPosting("A", "2026-10-24T12:00:00Z"), moneyPosting("B", "2026-10-25T06:59:59Z"),
        moneyPosting("G", "2026-10-24T20:00:00Z", .refund, price: 2_990, product: "weekly"),
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
      .subscriber, [subscriberRow("2026-10-24")],
      [moneyPosting("A", "2026-10-24T12:00:00Z"), moneyPosting("B", "2026-10-24T12:00:00Z")])
    #expect(result.unexplained.map(\.kind) == [.notPaid])
    #expect(result.unexplained[0].candidates == ["A", "B"])
  }

  @Test("A refund of a part of the price may differ by the rounding of Apple's amount")
  func partialRefund() throws {
    var refund = moneyPosting("A", "2026-10-24T12:00:00Z", .refund, price: 3_336)
    var posting = refund.posting
    posting.reason = "PRORATED"
    refund = KnownPosting(posting, knownAt: refund.knownAt)
    let row = subscriberRow("2026-10-24", price: "-3.33", proceeds: "-2.33", units: "0", refund: "Yes")
    let result = try reconcile(.subscriber, [row], [refund])
    #expect(result.days[0].explained.map(\.rule) == [.partialRefund])
    #expect(result.isClean)
  }

  @Test("A refund near the estimated credit of an upgrade is explained")
  func upgradeCredit() throws {
    let credit = moneyPosting("A", "2026-10-24T12:00:00Z", .upgradeCredit, price: 7_412)
    let row = subscriberRow("2026-10-24", price: "-7.50", proceeds: "-5.25", units: "-1", refund: "Yes")
    #expect(try reconcile(.subscriber, [row], [credit]).days[0].explained.map(\.rule) == [.upgradeCredit])
    let other = subscriberRow("2026-10-24", price: "-2.00", proceeds: "-1.40", units: "-1", refund: "Yes")
    #expect(try reconcile(.subscriber, [other], [credit]).unexplained.count == 1)
  }
}
