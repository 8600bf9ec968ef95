/// The operator's exchange rates, each valid from a day on.
package struct RateTable: Hashable, Sendable {
  /// The days after its first one on which a rate is used without a newer one.
  private static let validity: Int64 = 7
  /// Millionths.
  private static let unit: Int64 = 1_000_000

  /// The rate from one currency to another from a day on.
  package struct Rate: Hashable, Sendable {
    /// The currency of the amounts, ISO 4217.
    package let currency: String
    /// The currency into which they are converted, ISO 4217.
    package let target: String
    /// The first day on which it applies; without a newer one also on the 7 days after it.
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

  /// Converts `sums` with the rates of their days, and amounts of another day's rate with that. Sums without a rate stay as
  /// they are.
  package func convert(_ sums: [ReportSum], to target: String) -> [ReportSum] {
    sums.flatMap { sum in
      guard sum.isRated, let chargedOn = sum.cohortDay else { return [convert(sum, to: target, on: sum.day)] }
      // They are part of the sum of their day, and move from its rate to the other.
      var amounts = sum
      (amounts.cohortDay, amounts.age) = (nil, 0)
      var opposite = amounts
      (opposite.sums.amount, opposite.sums.proceeds) = (0 &- sum.sums.amount, 0 &- sum.sums.proceeds)
      return [convert(opposite, to: target, on: sum.day), convert(amounts, to: target, on: chargedOn)]
    }
  }

  private func convert(_ sum: ReportSum, to target: String, on day: ReportDay) -> ReportSum {
    guard !sum.currency.isEmpty, sum.currency != target, let rate = rate(sum.currency, target, on: day) else {
      return sum
    }
    var converted = sum
    (converted.currency, converted.group) = (target, nil)
    converted.sums.amount = Share.quotient(of: sum.sums.amount, times: rate.millionths, by: Self.unit)
    converted.sums.proceeds = Share.quotient(of: sum.sums.proceeds, times: rate.millionths, by: Self.unit)
    return converted
  }

  /// The last rate from `day` or before it.
  private func rate(_ currency: String, _ target: String, on day: ReportDay) -> Rate? {
    let rates = rates["\(currency) \(target)"] ?? []
    var (first, end) = (0, rates.count)
    while first < end {
      let middle = (first + end) / 2
      if rates[middle].from <= day { first = middle + 1 } else { end = middle }
    }
    guard first > 0, day <= rates[first - 1].from.advanced(by: Self.validity) else { return nil }
    return rates[first - 1]
  }
}
