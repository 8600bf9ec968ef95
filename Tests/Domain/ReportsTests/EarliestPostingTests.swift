import AppStore
import Entitlements
import Reports
import Testing

/// The first day of the postings behind a value: a store reads none before it.
@Suite struct EarliestPostingTests {
  /// The payers of the world, and two with a refund that is dated before its purchase, such as of a renewal that was
  /// charged early.
  private let postings: [Posting] = {
    let renewal = World.facts(
      "X",
      [
        World.period("monthly", "09-01", "10-01"),
        World.period("monthly", "10-01", "11-01").with { $0.revocationDate = World.day("09-30") },
      ])
    let archive = World.facts(
      "Y",
      [
        World.period("archive", "10-05", "10-05").with {
          ($0.type, $0.expiresDate) = (.nonConsumable, nil)
          $0.details.refunds = [.init(date: World.day("10-04"), percentage: nil)]
          $0.details.reversals = [World.day("10-20")]
        }
      ])
    let payers = World.payers.merging(["X": renewal, "Y": archive]) { $1 }
    return World.postings(at: World.day("12-31"), payers).map(\.posting)
  }()

  @Test("No posting of a value is earlier than the first one that is read", arguments: Report.Name.allCases)
  func earliest(name: Report.Name) {
    let report = Report.named(name)
    for granularity in Granularity.allCases where granularity.rawValue >= report.finest.rawValue {
      let query = ReportQuery(
        name, from: World.reportDay("2026-01-01"), to: World.reportDay("2027-01-01"), by: granularity)
      for posting in postings {
        let day = ReportDay(posting.effectiveAt)
        // The rows of the posting's day, and of its cohort at its age.
        for (joined, age) in [(day, 0), (posting.cohort?.day ?? day, posting.cohort?.age ?? 0)] {
          let row = ReportQuery.RowKey(
            bucket: granularity.firstDay(of: joined), currency: posting.currency, age: age)
          for column in report.columns {
            for part in query.postings(of: column, in: row) where part.selection.value(of: posting) != nil {
              #expect(part.selection.earliest.map { $0 <= day } ?? true, "\(column.name) \(granularity)")
            }
          }
        }
      }
    }
  }

  @Test("The payments of a cohort up to an age end with the month of this age of its last member")
  func ends() {
    func end(_ name: Report.Name, age: Int64, by granularity: Granularity = .month) -> ReportDay? {
      let query = ReportQuery(
        name, from: World.reportDay("01-01"), to: World.reportDay("12-31"), by: granularity)
      let row = ReportQuery.RowKey(bucket: World.reportDay("07-01"), currency: "USD", age: age)
      return query.postings(of: query.report.columns[0], in: row).first?.selection.until
    }
    #expect(end(.lifetimeValue, age: 0) == World.reportDay("08-01"))
    #expect(end(.lifetimeValue, age: 2) == World.reportDay("10-01"))
    #expect(end(.lifetimeValue, age: 2, by: .quarter) == World.reportDay("12-01"))
    #expect(end(.lifetimeValue, age: 9) == World.reportDay("12-31"), "no later than the query")
    #expect(end(.lifetimeValue, age: .max) == World.reportDay("12-31"))
    #expect(end(.retention, age: 2) == World.reportDay("12-31"), "an age in periods has no certain end")
  }

  @Test(
    "A value of any age has the days that are read",
    arguments: [Int64.min, -801, -800, -1, 0, 799, 800, .max])
  func anyAge(age: Int64) throws {
    for name in Report.Name.allCases {
      let query = ReportQuery(
        name, from: World.reportDay("01-01"), to: World.reportDay("12-31"), by: Report.named(name).finest)
      let row = ReportQuery.RowKey(bucket: World.reportDay("07-01"), currency: "USD", age: age)
      for column in query.report.columns {
        for part in query.postings(of: column, in: row) {
          #expect(part.selection.until <= query.to, "\(name) \(column.name)")
        }
      }
    }
  }

  @Test("All payments of a cohort are within the days that are read")
  func payments() {
    let query = ReportQuery(
      .lifetimeValue, from: World.reportDay("2026-01-01"), to: World.reportDay("2027-01-01"))
    for posting in postings {
      guard let cohort = posting.cohort else { continue }
      let row = ReportQuery.RowKey(
        bucket: cohort.day.firstOfMonth, currency: posting.currency, age: cohort.age)
      for column in query.report.columns {
        for (_, selection) in query.postings(of: column, in: row) where selection.signs[posting.kind] != nil {
          #expect(ReportDay(posting.effectiveAt) < selection.until, "\(column.name)")
        }
      }
    }
  }

  @Test("Cohorts have a first day, if none of their postings can be before it")
  func bounds() throws {
    let bucket = World.reportDay("10-01")
    func earliest(
      _ name: Report.Name, _ column: String, by granularity: Granularity = .month
    ) -> [ReportDay?] {
      let query = ReportQuery(
        name, from: World.reportDay("01-01"), to: World.reportDay("12-31"), by: granularity)
      return query.report.columns.filter { $0.name == column }.flatMap {
        query.postings(of: $0, in: .init(bucket: bucket, currency: "USD", age: 2)).map(\.selection.earliest)
      }
    }
    #expect(earliest(.lifetimeValue, "net") == [bucket])
    #expect(earliest(.retentionByMonth, "active") == [bucket])
    #expect(earliest(.retentionOfPayers, "payers") == [bucket])
    #expect(earliest(.retention, "reached") == [bucket])
    #expect(earliest(.consents, "settled", by: .day) == [bucket])
    // A refund can be dated before its purchase, and our clock dates an answer.
    #expect(earliest(.refunds, "refunded_purchases", by: .day) == [nil])
    #expect(earliest(.refundRequests, "answered", by: .day) == [nil])
    #expect(earliest(.subscriptions, "active") == [nil], "a stock counts from the beginning")
    #expect(earliest(.revenue, "gross") == [bucket])
  }
}
