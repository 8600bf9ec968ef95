/// The sum of all numbers of the rows without their signs. No sum of some of them is larger, so that the comparison adds
/// them without further checks.
struct ReportTotal {
  /// Leaves room for the differences from our own numbers.
  private static let limit = Int64.max / 2

  private var sum: Int64 = 0

  mutating func add(_ number: Int64, of row: ReportRow) throws(ReportError) {
    let (next, isOverflow) = sum.addingReportingOverflow(abs(number))
    guard !isOverflow, next <= Self.limit else { throw row.sumTooLarge }
    sum = next
  }

  /// The product of numbers of a row.
  static func product(of factors: Int64..., in row: ReportRow) throws(ReportError) -> Int64 {
    var product: Int64 = 1
    for factor in factors {
      let (next, isOverflow) = product.multipliedReportingOverflow(by: factor)
      guard !isOverflow, next.magnitude <= Self.limit.magnitude else { throw row.sumTooLarge }
      product = next
    }
    return product
  }
}
