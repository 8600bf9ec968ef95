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

  /// Creates a table of rates in any order. Each is in force until the next one of its pair of currencies, at most on
  /// the 7 days after its first.
  package init(_ rates: [Rate]) {
    self.rates = Dictionary(grouping: rates) { "\($0.currency) \($0.target)" }
      .mapValues { $0.sorted { $0.from < $1.from } }
  }

  /// Converts `sums` with the rates of their days, and amounts of another day's rate with that. A member of a cohort has
  /// the day on which it joined. Sums without a rate stay as they are.
  package func convert(_ sums: ReportSums, to target: String) -> ReportSums {
    ReportSums(sums.lazy.flatMap { converted($0, to: target) })
  }

  private func converted(_ sum: ReportSum, to target: String) -> [ReportSum] {
    guard sum.run.isRated, let chargedOn = sum.cohortDay else {
      return [convert(sum, to: target, on: sum.cohortDay ?? sum.day)]
    }
    // They are part of the sum of their day, and move from its rate to the other.
    var amounts = sum
    (amounts.run.cohortDay, amounts.run.age) = (nil, 0)
    var opposite = amounts
    (opposite.sums.amount, opposite.sums.proceeds) = (0 &- sum.sums.amount, 0 &- sum.sums.proceeds)
    return [convert(opposite, to: target, on: sum.day), convert(amounts, to: target, on: chargedOn)]
  }

  /// Converts a sum by the rate of a day; one without a rate keeps its currency.
  private func convert(_ sum: ReportSum, to target: String, on day: ReportDay) -> ReportSum {
    guard !sum.currency.isEmpty, sum.currency != target, let rate = rate(sum.currency, target, on: day) else {
      return sum
    }
    var converted = sum
    converted.group.currency = target
    (converted.sums.amount, converted.millionths.amount) = Self.product(sum.sums.amount, rate)
    (converted.sums.proceeds, converted.millionths.proceeds) = Self.product(sum.sums.proceeds, rate)
    return converted
  }

  /// The converted amount in whole thousandths, and what it is more in millionths of a thousandth; on overflow `amount`.
  private static func product(_ amount: Int64, _ rate: Rate) -> (thousandths: Int64, millionths: Int64) {
    let (high, low) = amount.multipliedFullWidth(by: rate.millionths)
    // A quotient of 64 bits.
    guard high.magnitude < unit.magnitude / 2 else { return (amount, 0) }
    let (quotient, remainder) = unit.dividingFullWidth((high, low))
    return remainder < 0 ? (quotient - 1, remainder + unit) : (quotient, remainder)
  }

  /// Returns an amount with its millionths rounded to a thousandth, half to even.
  static func rounded(_ thousandths: Int64, _ millionths: Int64) -> Int64 {
    let (quotient, remainder) = millionths.quotientAndRemainder(dividingBy: unit)
    let (whole, rest) =
      remainder < 0
      ? (thousandths &+ quotient &- 1, remainder + unit) : (thousandths &+ quotient, remainder)
    let isUp = 2 * rest > unit || (2 * rest == unit && whole % 2 != 0)
    return isUp ? whole &+ 1 : whole
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
