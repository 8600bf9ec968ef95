package import AppStore

/// What was counted for one product on one day (UTC).
package struct DailyMetrics: Hashable, Sendable {
  /// The start of the day.
  package let day: Instant
  /// Apple's product id.
  package let productID: String
  /// Customers for whom it was the case at the end of the day, or is now if the day has not ended.
  package fileprivate(set) var customers: [SubscriptionHistory.Span.Kind: Int64] = [:]
  /// What happened on the day.
  package fileprivate(set) var milestones: [SubscriptionHistory.Milestone.Kind: Int64] = [:]
  /// An estimate of the operator's share, less what was given back, by currency, in thousandths.
  package fileprivate(set) var proceeds: [String: Int64] = [:]
}

/// Adds up customers to days.
package struct DailyMetricsBuilder: Sendable {
  private struct Key: Hashable {
    let day: Int64
    let productID: String
  }

  /// A day in milliseconds.
  package static let day: Int64 = 86_400_000

  private let app: AppDefinition
  private let days: Range<Int64>
  private let productIDs: Set<String>
  private let now: Instant
  private var counted: [Key: DailyMetrics] = [:]
  /// For each day how many more, or fewer, customers it is the case for than for the day before; one number more than
  /// there are days. So a customer costs the same for a day as for a year.
  private var differences: [Series: [Int64]] = [:]

  /// Nothing yet, of the days from the one of `first` on and before the one of `end`. An empty set of
  /// products means all.
  package init(
    _ app: AppDefinition, from first: Instant, to end: Instant, productIDs: Set<String>, at now: Instant
  ) {
    self.app = app
    let firstDay = Self.dayNumber(first)
    days = firstDay..<max(firstDay, Self.dayNumber(end))
    self.productIDs = productIDs
    self.now = now
  }

  /// Counts one customer.
  package mutating func add(_ facts: borrowing CustomerFacts) {
    let history = SubscriptionHistory(facts, in: app, at: now)
    for milestone in history.milestones where milestone.at <= now {
      guard days.contains(Self.dayNumber(milestone.at)) else { continue }
      count(Self.dayNumber(milestone.at), milestone.productID) {
        $0.milestones[milestone.kind, default: 0] += 1
      }
    }
    add(history.spans)
    let times =
      Self.start(
        of: days.lowerBound)..<min(Self.start(of: days.upperBound), max(now, Self.start(of: days.lowerBound)))
    for payment in Payment.all(facts, in: app, during: times) {
      count(Self.dayNumber(payment.at), payment.productID) {
        $0.proceeds[payment.currency, default: 0] &+= payment.proceeds
      }
    }
  }

  /// All that was counted, by day and product; nothing for those of which nothing was.
  package var metrics: [DailyMetrics] {
    var all = counted
    for (series, differences) in differences {
      var customers: Int64 = 0
      for (day, difference) in zip(days, differences) {
        customers += difference
        guard customers > 0 else { continue }
        let empty = DailyMetrics(day: Self.start(of: day), productID: series.productID)
        all[Key(day: day, productID: series.productID), default: empty].customers[series.kind] = customers
      }
    }
    return all.values.sorted { ($0.day, $0.productID) < ($1.day, $1.productID) }
  }

  private struct Series: Hashable {
    let productID: String
    let kind: SubscriptionHistory.Span.Kind
  }

  private mutating func add(_ spans: [SubscriptionHistory.Span]) {
    var dayRanges: [Series: [ClosedRange<Int64>]] = [:]
    for span in spans where productIDs.isEmpty || productIDs.contains(span.productID) {
      guard let dayRange = dayRange(of: span) else { continue }
      dayRanges[Series(productID: span.productID, kind: span.kind), default: []].append(dayRange)
    }
    for (series, dayRanges) in dayRanges {
      // A customer with two subscriptions to one product is one customer.
      var next = days.lowerBound
      for dayRange in dayRanges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        let first = max(next, dayRange.lowerBound)
        guard first <= dayRange.upperBound else { continue }
        next = dayRange.upperBound + 1
        let none = [Int64](repeating: 0, count: days.count + 1)
        differences[series, default: none][Int(first - days.lowerBound)] += 1
        differences[series, default: none][Int(next - days.lowerBound)] -= 1
      }
    }
  }

  /// The days at whose end the span was the case; `nil` if there are none.
  private func dayRange(of span: SubscriptionHistory.Span) -> ClosedRange<Int64>? {
    func isActive(onDay day: Int64) -> Bool {
      span.covers(min(Self.start(of: day + 1).advanced(byMilliseconds: -1), now))
    }
    var first = max(days.lowerBound, Self.dayNumber(span.start))
    var last = min(days.upperBound - 1, Self.dayNumber(min(span.end ?? now, now)))
    // Of the days on which it begins and ends it may have had only a part; those between it had whole.
    if first <= last, !isActive(onDay: first) { first += 1 }
    if first <= last, !isActive(onDay: last) { last -= 1 }
    return first <= last ? first...last : nil
  }

  private mutating func count(_ day: Int64, _ productID: String, _ change: (inout DailyMetrics) -> Void) {
    guard productIDs.isEmpty || productIDs.contains(productID) else { return }
    let key = Key(day: day, productID: productID)
    change(&counted[key, default: DailyMetrics(day: Self.start(of: day), productID: productID)])
  }

  private static func dayNumber(_ moment: Instant) -> Int64 {
    let (quotient, remainder) = moment.millisecondsSince1970.quotientAndRemainder(dividingBy: day)
    return remainder < 0 ? quotient - 1 : quotient
  }

  private static func start(of number: Int64) -> Instant {
    Instant(millisecondsSince1970: number * day)
  }
}
