package import AppStore

/// What was counted for one product on one day (UTC).
package struct DailyMetrics: Hashable, Sendable {
  /// The start of the day.
  package let day: Instant
  /// Apple's product id.
  package let productID: String
  /// Customers for whom it was the case at the end of the day, or is now if the day has not ended.
  package fileprivate(set) var standing: [LifeCycle.Span.Kind: Int64] = [:]
  /// What happened on the day.
  package fileprivate(set) var happened: [LifeCycle.Signal.Kind: Int64] = [:]
  /// An estimate of the operator's share, less what was given back, by currency, in thousandths.
  package fileprivate(set) var proceeds: [String: Int64] = [:]
}

/// Adds up customers to days.
package struct MetricsTally: Sendable {
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
    let life = LifeCycle(facts, in: app, at: now)
    for signal in life.signals where signal.at <= now {
      guard days.contains(Self.dayNumber(signal.at)) else { continue }
      count(Self.dayNumber(signal.at), signal.productID) { $0.happened[signal.kind, default: 0] += 1 }
    }
    // A customer with two subscriptions to one product is one customer.
    for span in Set(life.spans.flatMap(standing)) {
      count(span.day, span.productID) { $0.standing[span.kind, default: 0] += 1 }
    }
    let times =
      Self.start(
        of: days.lowerBound)..<min(Self.start(of: days.upperBound), max(now, Self.start(of: days.lowerBound)))
    for charge in Charge.all(facts, in: app, during: times) {
      count(Self.dayNumber(charge.at), charge.productID) {
        $0.proceeds[charge.currency, default: 0] &+= charge.proceeds
      }
    }
  }

  /// All that was counted, by day and product; nothing for those of which nothing was.
  package var metrics: [DailyMetrics] {
    counted.values.sorted { ($0.day, $0.productID) < ($1.day, $1.productID) }
  }

  private struct Standing: Hashable {
    let day: Int64
    let productID: String
    let kind: LifeCycle.Span.Kind
  }

  /// The days at whose end the span was the case.
  private func standing(_ span: LifeCycle.Span) -> [Standing] {
    let first = max(days.lowerBound, Self.dayNumber(span.start))
    let last = min(days.upperBound - 1, Self.dayNumber(min(span.end ?? now, now)))
    guard first <= last else { return [] }
    return (first...last).compactMap { day in
      let moment = min(Self.start(of: day + 1).advanced(byMilliseconds: -1), now)
      guard span.covers(moment) else { return nil }
      return Standing(day: day, productID: span.productID, kind: span.kind)
    }
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
