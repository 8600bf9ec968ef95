import AppStore
import Entitlements
import Reports
import Testing

@Suite struct KnowledgeTests {
  /// The documents about G before its refund, and the refund, which became known on the 27th.
  private var late: [(posting: Posting, knownAt: Instant)] {
    let bought = World.facts("G", [World.period("weekly", "10-19", "10-26")])
    let before = PayerPostings(bought, in: World.app, at: World.day("10-23")).postings
    let after = PayerPostings(World.payers["G"]!, in: World.app, at: World.day("10-27")).postings
    return before.map { ($0, $0.effectiveAt) }
      + before.changes(to: after).map { ($0, World.day("10-27")) }
  }

  @Test("A day as first closed does not change with a refund that is learned later")
  func firstClosed() throws {
    let closed = try Answer(
      .subscriptions, "10-19", "10-29", by: .day, knowledge: .firstClosed, of: late)
    #expect(closed("active", on: "10-24") == [1])
    #expect(closed("active", on: "10-26") == [1])
    #expect(closed("active", on: "10-27") == [0])
    let now = try Answer(.subscriptions, "10-19", "10-29", by: .day, of: late)
    #expect(now("active", on: "10-23") == [1])
    #expect(now("active", on: "10-24") == [0])
    let refunds = try Answer(.refunds, "10-19", "10-29", by: .day, knowledge: .firstClosed, of: late)
    #expect(refunds("refunds", on: "10-24", currency: "USD") == [0])
  }

  @Test("Later evidence does not change a day as first closed")
  func whenClosed() throws {
    let known = try Answer(
      .subscriptions, "10-19", "10-27", by: .day, knowledge: .whenClosed(World.reportDay("10-26")), of: late)
    #expect(known("active", on: "10-25") == [1])
    let later = try Answer(
      .subscriptions, "10-19", "10-27", by: .day, knowledge: .whenClosed(World.reportDay("10-27")), of: late)
    #expect(later("active", on: "10-25") == [0])
  }

  @Test("Equal postings need no new one, and undoing a change restores the sum of the postings")
  func differences() {
    for facts in World.payers.values {
      let now = PayerPostings(facts, in: World.app, at: World.day("10-31")).postings
      #expect(now.changes(to: now).isEmpty)
      let past = PayerPostings(facts, in: World.app, at: World.day("10-12")).postings
      let all = past + past.changes(to: now)
      #expect(Set(all.net.keys) == Set(now.net.keys))
      let back = all + now.changes(to: past)
      #expect(back.net == past.net)
    }
  }

  @Test("The due instants alone lead from day to day to the same postings")
  func dueInstants() {
    for (name, facts) in World.payers {
      var now = World.day("2025-10-01")
      var (postings, standing): ([Posting], [Posting]) = ([], [])
      while now < World.day("12-31") {
        let derived = PayerPostings(facts, in: World.app, at: now)
        postings += standing.changes(to: derived.postings)
        standing = derived.postings
        now = derived.due ?? World.day("12-31")
      }
      let whole = PayerPostings(facts, in: World.app, at: World.day("12-30")).postings
      #expect(postings.net == whole.net, "payer \(name)")
    }
  }
}

@Suite struct ReportDayTests {
  @Test("A day closes some time after its end, and what is known then is of the next closing")
  func closing() {
    let day = World.reportDay("10-24")
    let delay = ReportPolicy.standard.closeAfter
    let closing = day.closing(after: delay)
    #expect(closing == Instant(rfc3339: "2026-10-25T06:00:00Z"))
    #expect(ReportDay(closingAfter: closing.advanced(byMilliseconds: -1), delay: delay) == day)
    #expect(ReportDay(closingAfter: closing, delay: delay) == day.advanced(by: 1))
    #expect(day.closing(after: 0) == day.end)
  }

  @Test("Weeks begin on Monday; months, quarters and years are those of the calendar")
  func buckets() {
    let day = World.reportDay("11-25")
    #expect(Granularity.week.firstDay(of: day) == World.reportDay("11-23"))
    #expect(Granularity.month.firstDay(of: day) == World.reportDay("11-01"))
    #expect(Granularity.quarter.firstDay(of: day) == World.reportDay("10-01"))
    #expect(Granularity.year.firstDay(after: day) == World.reportDay("2027-01-01"))
    #expect(Granularity.week.firstDay(of: ReportDay(number: -1)) == ReportDay(number: -3))
  }

  @Test("An amount is converted with the last rate within seven days before its day, or stays as it is")
  func rates() {
    let table = RateTable([
      RateTable.Rate("EUR", to: "USD", from: World.reportDay("10-20"), millionths: 1_085_000)
    ])
    let sum = { (day: String) in
      ReportSum(
        kind: .charge, day: World.reportDay(day), currency: "EUR",
        sums: ReportCell.Sums(count: 1, amount: 9_990))
    }
    #expect(table.convert([sum("10-25")], to: "USD").map(\.sums.amount) == [10_839])
    #expect(table.convert([sum("10-25")], to: "USD").map(\.currency) == ["USD"])
    #expect(table.convert([sum("10-27")], to: "USD").map(\.currency) == ["USD"])
    #expect(table.convert([sum("10-28")], to: "USD").map(\.currency) == ["EUR"])
    #expect(table.convert([sum("10-19")], to: "USD").map(\.currency) == ["EUR"])
  }

  /// A conversion of EUR to USD.
  private static func rows(
    _ report: Report.Name, by granularity: Granularity = .month, groupBy: [ReportQuery.Dimension] = [],
    millionths: Int64, of postings: [(posting: Posting, knownAt: Instant)]
  ) throws -> [ReportTable.Row] {
    var query = ReportQuery(
      report, from: World.reportDay("10-01"), to: World.reportDay("11-01"), by: granularity, groupBy: groupBy)
    query.isConverted = true
    let rates = RateTable([
      RateTable.Rate("EUR", to: "USD", from: World.reportDay("10-01"), millionths: millionths)
    ])
    return try ReportTable(query, rates.convert(query.sums(of: postings, closingAfter: 0), to: "USD")).rows
  }

  @Test(
    "A converted value is rounded once, whatever days and groups it adds up", arguments: [1, -1] as [Int64])
  func conversion(sign: Int64) throws {
    let postings = ["10-01", "10-02", "10-03"].map { day in
      var charge = Posting(
        .charge, at: World.day(day), line: day, transactionID: day,
        Posting.Dimensions(productID: day == "10-01" ? "weekly" : "monthly"))
      (charge.count, charge.amount, charge.currency) = (1, sign, "EUR")
      return (posting: charge, knownAt: charge.effectiveAt)
    }
    func gross(by granularity: Granularity = .month, _ groups: [ReportQuery.Dimension] = []) throws -> [Int64]
    {
      try Self.rows(.revenue, by: granularity, groupBy: groups, millionths: 500_000, of: postings)
        .map { $0.values[0] }
    }
    // 1.5 thousandths are 2, and each half is 0.
    #expect(try gross() == [2 * sign])
    #expect(try gross(by: .day) == [0, 0, 0])
    #expect(try gross(by: .month, [.product]) == [sign, 0])
  }

  @Test("With conversion, refunded purchases are in the row of the purchases")
  func convertedCohorts() throws {
    let refunded = World.german(World.period("monthly", "10-02", "11-02"))
      .with { $0.revocationDate = World.day("10-05") }
    let postings = World.postings(at: World.day("10-31"), ["N": World.facts("N", [refunded])])
    let rows = try Self.rows(.refunds, millionths: 2_000_000, of: postings)
    #expect(rows.map(\.currency) == ["USD"])
    let values = Dictionary(
      uniqueKeysWithValues: zip(Report.named(.refunds).columns.map(\.name), rows.first?.values ?? []).map {
        ($0, $1)
      })
    #expect(values["amount"] == -19_980)
    #expect([values["refunds"], values["refunded_purchases"], values["purchases"]] == [1, 1, 1])
  }
}

@Suite struct PostingKindTests {
  @Test("The stored number of each kind of posting never changes")
  func golden() {
    let expected: [ClosedRange<Int64>] = [
      1...15, 20...54, 60...67, 80...85, 90...92, 100...110, 120...124, 130...132,
    ]
    #expect(Posting.Kind.allCases.map(\.rawValue) == expected.flatMap { Array($0) })
    #expect(Granularity.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
  }

  @Test("The stored hashes of a posting never change, and do not depend on its purchase")
  func hashes() {
    let dimensions = Posting.Dimensions(productID: "monthly", group: "pro", storefront: "USA")
    var posting = Posting(
      .charge, at: Instant(millisecondsSince1970: 1_000), line: "L", transactionID: "T1", dimensions)
    (posting.reason, posting.currency, posting.marks) = ("SUBSCRIPTION", "USD", 3)
    (posting.count, posting.amount, posting.proceeds) = (1, 9_990, 6_993)
    let key = posting.cells.first?.key
    #expect(key?.groupFingerprint == 13_682_380_629_921_620_914)
    var ofCohort = posting
    ofCohort.cohort = Posting.Cohort(day: ReportDay(number: 20_000), dimensions: dimensions, age: 2)
    #expect(ofCohort.fingerprint == 8_771_736_872_122_466_085)
    posting.chargedOn = ReportDay(number: 19_999)
    #expect(posting.fingerprint == 9_201_350_311_571_276_832)
    let other = Posting(.charge, at: posting.effectiveAt, line: "M", transactionID: "T1", dimensions)
      .fingerprint
    #expect(
      other
        == Posting(.charge, at: posting.effectiveAt, line: "L", transactionID: "T1", dimensions).fingerprint)
  }

  @Test("Stocks and movements agree on every day, product and storefront")
  func identity() {
    let postings = World.postings(at: World.day("12-31"))
    var counts: [ReportDay: [Posting.Dimensions: Int64]] = [:]
    var amounts: [ReportDay: [String: Int64]] = [:]
    for (posting, _) in postings {
      let sign: Int64 =
        switch posting.kind {
        case .active: -1
        case let kind where Report.enteringKinds.contains(kind): 1
        case let kind where Report.leavingKinds.contains(kind): -1
        default: 0
        }
      let stockSign: Int64 = posting.kind == .active ? -1 : sign == 0 ? 0 : 1
      let day = ReportDay(posting.effectiveAt)
      counts[day, default: [:]][posting.dimensions, default: 0] += sign * posting.count
      let isMovement = stockSign != 0 || posting.kind == .expansion || posting.kind == .contraction
      guard isMovement else { continue }
      amounts[day, default: [:]][posting.currency, default: 0] +=
        (stockSign == 0 ? 1 : stockSign) * posting.amount
    }
    #expect(counts.values.flatMap(\.values).allSatisfy { $0 == 0 })
    #expect(amounts.values.flatMap(\.values).allSatisfy { $0 == 0 })
  }
}

extension [Posting] {
  /// The postings that must be appended to these so that `derived` stand.
  fileprivate func changes(to derived: [Posting]) -> [Posting] {
    let difference = PostingDifference(standing: map(\.fingerprint), derived: derived)
    let known = Dictionary(map { ($0.fingerprint, $0) }, uniquingKeysWith: { $1 })
    return difference.removed.compactMap { known[$0]?.reversed } + difference.added
  }

  /// The number of times that each posting counts.
  fileprivate var net: [Posting: Int] {
    var net: [Posting: Int] = [:]
    for posting in self {
      if net[posting.reversed, default: 0] > 0 {
        net[posting.reversed, default: 0] -= 1
      } else {
        net[posting, default: 0] += 1
      }
    }
    return net.filter { $0.value != 0 }
  }
}
