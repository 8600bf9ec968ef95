import Testing

@testable import Reports

@Suite("Sums of reports")
struct ReportSumsTests {
  private let first = World.reportDay("10-01")

  private func sum(_ day: Int64, _ product: String, _ count: Int64, reason: String = "") -> ReportSum {
    ReportSum(
      kind: .lapsedVoluntary, day: first.advanced(by: day), groups: [product], reason: reason,
      sums: ReportCell.Sums(count: count))
  }

  @Test("Sums keep their texts once, and are the same one by one")
  func elements() {
    let all = [sum(0, "a", 1), sum(0, "b", 2), sum(1, "a", 4), sum(0, "a", 8)]
    let sums = ReportSums(all)
    #expect(Array(sums) == all)
    #expect(sums.runs.count == 2)
    #expect(sums.groups.count == 2)
    let none: ReportSums = []
    #expect(none.isEmpty)
  }

  @Test("Sums that are added to others keep their runs and groups")
  func addition() {
    var sums: ReportSums = [sum(0, "a", 1), sum(1, "b", 2)]
    sums += [sum(1, "b", 4), sum(2, "c", 8)]
    #expect(Array(sums) == [sum(0, "a", 1), sum(1, "b", 2), sum(1, "b", 4), sum(2, "c", 8)])
  }

  @Test("Sums of one group and several days, reasons or parts are one row for each bucket")
  func rows() throws {
    let query = ReportQuery(
      .churnReasons, from: first, to: first.advanced(by: 2), groupBy: [.product])
    var sums: ReportSums = [sum(0, "b", 1, reason: "CANCELLED"), sum(0, "a", 2), sum(1, "a", 4)]
    // The first day again, and another reason.
    sums += [sum(0, "b", 8, reason: "CANCELLED_WITHIN_A_DAY"), sum(-1, "a", 16), sum(2, "a", 32)]
    let rows = try ReportTable(query, sums).rows
    #expect(rows.map(\.bucket) == [first, first, first.advanced(by: 1)])
    #expect(rows.map(\.groups) == [["a"], ["b"], ["a"]])
    // All ends, cancellations within a day, and later ones.
    #expect(rows.map { Array($0.values[..<3]) } == [[2, 0, 0], [9, 8, 1], [4, 0, 0]])
  }
}
