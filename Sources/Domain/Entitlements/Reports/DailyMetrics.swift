package import AppStore

/// What was counted for one product on one day (UTC).
package struct DailyMetrics: Hashable, Sendable {
  /// The start of the day.
  package let day: Instant
  /// Apple's product id.
  package let productID: String
  /// Customers for whom it was the case at the end of the day, or is now if the day has not ended.
  package fileprivate(set) var standing: [SubscriptionHistory.Span.Kind: Int64] = [:]
  /// What happened on the day.
  package fileprivate(set) var happened: [SubscriptionHistory.Milestone.Kind: Int64] = [:]
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
  private var turns: [Standing: [Int64]] = [:]

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
    let life = SubscriptionHistory(facts, in: app, at: now)
    for signal in life.signals where signal.at <= now {
      guard days.contains(Self.dayNumber(signal.at)) else { continue }
      count(Self.dayNumber(signal.at), signal.productID) { $0.happened[signal.kind, default: 0] += 1 }
    }
    add(life.spans)
    let times =
      Self.start(
        of: days.lowerBound)..<min(Self.start(of: days.upperBound), max(now, Self.start(of: days.lowerBound)))
    for charge in Payment.all(facts, in: app, during: times) {
      count(Self.dayNumber(charge.at), charge.productID) {
        $0.proceeds[charge.currency, default: 0] &+= charge.proceeds
      }
    }
  }

  /// All that was counted, by day and product; nothing for those of which nothing was.
  package var metrics: [DailyMetrics] {
    var all = counted
    for (what, turns) in turns {
      var customers: Int64 = 0
      for (day, turn) in zip(days, turns) {
        customers += turn
        guard customers > 0 else { continue }
        let empty = DailyMetrics(day: Self.start(of: day), productID: what.productID)
        all[Key(day: day, productID: what.productID), default: empty].standing[what.kind] = customers
      }
    }
    return all.values.sorted { ($0.day, $0.productID) < ($1.day, $1.productID) }
  }

  private struct Standing: Hashable {
    let productID: String
    let kind: SubscriptionHistory.Span.Kind
  }

  private mutating func add(_ spans: [SubscriptionHistory.Span]) {
    var stretches: [Standing: [ClosedRange<Int64>]] = [:]
    for span in spans where productIDs.isEmpty || productIDs.contains(span.productID) {
      guard let stretch = stretch(of: span) else { continue }
      stretches[Standing(productID: span.productID, kind: span.kind), default: []].append(stretch)
    }
    for (what, stretches) in stretches {
      // A customer with two subscriptions to one product is one customer.
      var next = days.lowerBound
      for stretch in stretches.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        let first = max(next, stretch.lowerBound)
        guard first <= stretch.upperBound else { continue }
        next = stretch.upperBound + 1
        let none = [Int64](repeating: 0, count: days.count + 1)
        turns[what, default: none][Int(first - days.lowerBound)] += 1
        turns[what, default: none][Int(next - days.lowerBound)] -= 1
      }
    }
  }

  /// The days at whose end the span was the case; `nil` if there are none.
  private func stretch(of span: SubscriptionHistory.Span) -> ClosedRange<Int64>? {
    func isTheCase(onDay day: Int64) -> Bool {
      span.covers(min(Self.start(of: day + 1).advanced(byMilliseconds: -1), now))
    }
    var first = max(days.lowerBound, Self.dayNumber(span.start))
    var last = min(days.upperBound - 1, Self.dayNumber(min(span.end ?? now, now)))
    // Of the days on which it begins and ends it may have had only a part; those between it had whole.
    if first <= last, !isTheCase(onDay: first) { first += 1 }
    if first <= last, !isTheCase(onDay: last) { last -= 1 }
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
