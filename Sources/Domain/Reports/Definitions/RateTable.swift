/// The operator's exchange rates, each valid from a day on.
package struct RateTable: Hashable, Sendable {
  /// A rate is missing where none of the last week exists.
  private static let validity: Int64 = 7
  /// Millionths.
  private static let unit: Int64 = 1_000_000

  package struct Rate: Hashable, Sendable {
    package let currency: String
    package let target: String
    package let from: ReportDay
    /// Units of the target currency for a million units.
    package let millionths: Int64

    package init(_ currency: String, to target: String, from: ReportDay, millionths: Int64) {
      self.currency = currency
      self.target = target
      self.from = from
      self.millionths = millionths
    }
  }

  private let rates: [String: [Rate]]

  package init(_ rates: [Rate]) {
    self.rates = Dictionary(grouping: rates) { "\($0.currency) \($0.target)" }
      .mapValues { $0.sorted { $0.from < $1.from } }
  }

  /// Converts `sums` with the rates of their days. Sums without a rate stay as they are.
  package func convert(_ sums: [ReportSum], to target: String) -> [ReportSum] {
    sums.map { sum in
      guard !sum.currency.isEmpty, sum.currency != target,
        let rate = rate(sum.currency, target, on: sum.day)
      else { return sum }
      var converted = sum
      converted.currency = target
      converted.sums.amount = Share.quotient(of: sum.sums.amount, times: rate.millionths, by: Self.unit)
      converted.sums.proceeds = Share.quotient(of: sum.sums.proceeds, times: rate.millionths, by: Self.unit)
      return converted
    }
  }

  private func rate(_ currency: String, _ target: String, on day: ReportDay) -> Rate? {
    rates["\(currency) \(target)"]?.last { $0.from <= day && day < $0.from.advanced(by: Self.validity) }
  }
}
