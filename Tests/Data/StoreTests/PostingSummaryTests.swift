import Reports
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct PostingSummaryTests {
  private static let dimensions = Posting.Dimensions(productID: "pro.monthly", storefront: "USA")

  private static func posting(_ kind: Posting.Kind, cohort: Posting.Cohort? = nil) -> Posting {
    var posting = Posting(kind, at: at(20), line: "L1", transactionID: "1", dimensions)
    posting.cohort = cohort
    return posting
  }

  @Test("A summary has the kinds, products and storefronts, and the first and the last cohort")
  func summary() {
    let other = Posting.Dimensions(productID: "pro.yearly", storefront: "DEU")
    let summary = PostingSummary([
      Self.posting(.renewed),
      Self.posting(.charge, cohort: .init(day: ReportDay(at(5)), dimensions: Self.dimensions)),
      Self.posting(.periodReached, cohort: .init(day: ReportDay(at(3)), dimensions: other)),
    ])
    #expect(summary.kinds == PostingSummary.bits(of: [.renewed, .charge, .periodReached]))
    #expect(
      summary.dimensions == PostingSummary.bits(of: ["pro.monthly", "USA", "pro.yearly", "DEU"]))
    #expect(summary.cohorts == ReportDay(at(3))...ReportDay(at(5)))
    #expect(PostingSummary([Self.posting(.renewed)]).cohorts == nil)
  }

  @Test("Each kind has one bit, and what a renewal posts shares none with a rarer kind")
  func bits() {
    var kinds: [Int64: Set<Posting.Kind>] = [:]
    for kind in Posting.Kind.allCases {
      let bits = PostingSummary.bits(of: [kind])
      #expect(bits > 0 && bits.nonzeroBitCount == 1, "\(kind)")
      kinds[bits, default: []].insert(kind)
    }
    func sharing(_ kind: Posting.Kind) -> Set<Posting.Kind>? { kinds[PostingSummary.bits(of: [kind])] }
    for kind in [.renewed, .periodReached, .chargeAfterYear, .active] as [Posting.Kind] {
      #expect(sharing(kind) == [kind])
    }
    #expect(sharing(.charge) == [.charge, .unpriced])
    #expect(sharing(.refund) == [.refund, .refundReversed, .refundOfPurchase])
    #expect(sharing(.payer) == [.payer, .joinedCohort, .payerJoined])
  }

  // Stored in rows: a changed bit needs new postings.
  @Test("The stored bits never change")
  func stored() {
    let numbers = Posting.Kind.allCases.filter { $0.rawValue >= 63 }
      .map { "\($0.rawValue):\(PostingSummary.bits(of: [$0]).trailingZeroBitCount)" }
    #expect(
      numbers.joined(separator: " ") == """
        63:55 64:55 65:55 66:55 67:55 80:0 81:56 82:57 83:0 84:16 85:56 90:58 91:58 92:58 100:18 101:17 102:56 \
        103:18 104:41 105:19 106:18 107:19 108:45 109:46 110:47 120:59 121:59 122:59 123:59 124:59 130:59 131:59 \
        132:59
        """)
    let others = Posting.Kind.allCases.filter { $0.rawValue < 63 }
    #expect(others.allSatisfy { PostingSummary.bits(of: [$0]) == 1 << $0.rawValue })
    let texts = ["USA", "DEU", "MLT", "pro.monthly", ""]
    #expect(texts.map { PostingSummary.bits(of: [$0]).trailingZeroBitCount } == [10, 38, 0, 18, 32])
  }

  @Test("The rows of a value are read from an index that decides about most of them")
  func plans() throws {
    let connection = try Connection.writer(path: ":memory:")
    try Schema.create(connection)
    func plan(_ sql: String) throws -> String {
      let statement = try connection.prepare("EXPLAIN QUERY PLAN \(sql)")
      defer { statement.reset() }
      return try statement.step() ? statement.text(3) ?? "" : ""
    }
    for (name, columnName) in [
      (Report.Name.revenue, "refunds"), (.lifetimeValue, "net"), (.subscriptions, "active"),
    ] {
      let query = ReportQuery(
        name, from: ReportDay(at(0)), to: ReportDay(at(90)), by: .month, groupBy: [.storefront])
      let column = try #require(query.report.columns.first { $0.name == columnName })
      let row = ReportQuery.RowKey(bucket: ReportDay(at(30)), groups: ["MLT"], currency: "EUR")
      let condition = PostingCondition(try #require(query.postings(of: column, in: row).first).selection)
      #expect(
        try plan("SELECT position FROM posting WHERE \(condition.ofIndex) LIMIT 100")
          .contains("COVERING INDEX posting_by_time"), "\(name)")
      let inOrder = try plan(
        """
        SELECT \(PostingRows.columns) FROM posting
        WHERE app = 'ocean' AND environment = 'Sandbox' AND (line_id, position) > ('', 0) AND \(condition.inOrder)
        ORDER BY line_id, position LIMIT 100
        """)
      #expect(inOrder.contains("INDEX posting_of_line"), "\(name)")
    }
  }
}
