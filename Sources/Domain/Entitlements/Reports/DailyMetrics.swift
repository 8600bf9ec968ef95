package import AppStore

/// The subscription metrics of one product on one day (UTC).
package struct DailyMetrics: Hashable, Sendable {
  /// The start of the day.
  package let day: Instant
  /// The App Store product id.
  package let productID: String
  /// The number of customers in each state at the end of the day, or now if the day has not ended.
  package fileprivate(set) var customers: [SubscriptionHistory.Span.Kind: Int64] = [:]
  /// The number of milestones on the day.
  package fileprivate(set) var milestones: [SubscriptionHistory.Milestone.Kind: Int64] = [:]
  /// Estimated proceeds less refunds, by currency, in milliunits.
  package fileprivate(set) var proceeds: [String: Int64] = [:]
}

/// Aggregates customers into daily metrics.
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
  /// The change of the number of customers from day to day, with one element more than there are days, so
  /// that adding a customer costs the same for one day and for a year.
  private var differences: [Series: [Int64]] = [:]

  /// Creates a builder for the days from that of `first` up to, but not including, that of `end`. An empty
  /// set of products means all.
  package init(
    _ app: AppDefinition, from first: Instant, to end: Instant, productIDs: Set<String>, at now: Instant
  ) {
    self.app = app
    let firstDay = Self.dayNumber(first)
    days = firstDay..<max(firstDay, Self.dayNumber(end))
    self.productIDs = productIDs
    self.now = now
  }

  /// Adds one customer.
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

  /// The metrics by day and product; products without any count on a day are left out.
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
      // A customer with two subscriptions to one product counts once.
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

  /// The days at whose end the span was active; `nil` if there are none.
  private func dayRange(of span: SubscriptionHistory.Span) -> ClosedRange<Int64>? {
    func isActive(onDay day: Int64) -> Bool {
      span.covers(min(Self.start(of: day + 1).advanced(byMilliseconds: -1), now))
    }
    var first = max(days.lowerBound, Self.dayNumber(span.start))
    var last = min(days.upperBound - 1, Self.dayNumber(min(span.end ?? now, now)))
    // The first and last day may be covered only in part; the days in between are covered.
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
