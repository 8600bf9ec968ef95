internal import AppStore
internal import Entitlements
internal import Store

/// A query of a segment in SQL.
///
/// The conditions of ``rest`` name no bare column, so that they cannot make the engine choose another index than that of
/// ``sources``.
struct SegmentPlan {
  /// The number of entries up to which an index that does not have the order of the pages is used. Reading them takes
  /// less than 30 milliseconds; if there are more, at least six in a hundred of a million rows match.
  static let maxCandidates: Int64 = 60_000

  /// Conditions without common rows. One index answers each.
  var sources: [String]
  /// All other conditions.
  let rest: String
  /// The parameters: app, environment, then texts.
  let values: [any StatementValue]
  /// Conditions that may select few rows by an index.
  let selections: [Selection]
  /// Whether no row can match.
  let isEmpty: Bool
  /// A condition that is always true and names all parameters, because some engines want each to be used.
  let parameterTypes: String

  /// Rows that one index leads to.
  struct Selection {
    /// The condition that selects a range of the index.
    let range: String
    /// The range, and the conditions that the index decides without reading the row.
    let rows: String
  }

  init(_ query: SegmentQuery) {
    let conditions = query.conditions
    let plan = Conditions(query)
    sources = conditions.states.map { "state = \($0.rawValue) AND app = ?1 AND environment = ?2" }
    rest = (plan.rest + plan.covered).joined(separator: " AND ")
    selections =
      plan.ranges.map { Selection(range: $0, rows: ([$0] + plan.covered).joined(separator: " AND ")) }
      + plan.partial.map { Selection(range: $0, rows: $0) }
    isEmpty = conditions.states.isEmpty || conditions.productIDs?.isEmpty == true
    values = [query.appEnvironment.appID, query.appEnvironment.environment] + plan.texts.values
    let uses = (1...values.count).map { "coalesce(CAST(?\($0) AS TEXT), '') IS NOT NULL" }
    parameterTypes = uses.joined(separator: " AND ")
  }
}

/// The conditions of a query by the part that the indexes have in deciding them.
private struct Conditions {
  private let query: SegmentQuery
  private let states: String
  private(set) var texts = TextParameters(after: 2)
  /// Conditions that only the row decides.
  private(set) var rest = ["(app || '') = ?1", "(environment || '') = ?2"]
  /// Conditions that each index decides.
  private(set) var covered: [String] = []
  /// Ranges of indexes.
  private(set) var ranges: [String] = []
  /// Conditions of partial indexes, which have the matching rows only.
  private(set) var partial: [String] = []

  private var filter: SegmentFilter { query.conditions.filter }

  init(_ query: SegmentQuery) {
    self.query = query
    states = query.conditions.states.map { String($0.rawValue) }.joined(separator: ", ")
    covered.append("(state + 0) IN (\(states))")
    addLists()
    addTimes()
    addFlags()
  }

  /// Adds the conditions that select from lists. The operators without effect (`|| ''`) keep SQLite from choosing an
  /// index by them.
  private mutating func addLists() {
    if let products = query.conditions.productIDs {
      let list = texts.add(products)
      covered.append("(product_id || '') IN (\(list))")
      ranges.append("product_id IN (\(list)) AND state IN (\(states)) AND app = ?1 AND environment = ?2")
    }
    if !filter.storefronts.isEmpty {
      let list = texts.add(filter.storefronts)
      covered.append("(storefront || '') IN (\(list))")
      ranges.append("storefront IN (\(list)) AND app = ?1 AND environment = ?2")
    }
    if !filter.modes.isEmpty {
      covered.append(
        "(mode + 0) IN (\(filter.modes.map { String($0.rawValue) }.sorted().joined(separator: ", ")))")
    }
    if !filter.ownerships.isEmpty {
      rest.append("(ownership || '') IN (\(texts.add(Set(filter.ownerships.map(\.rawValue)))))")
      if !filter.ownerships.contains(.purchased) { partial.append("ownership <> 'PURCHASED'") }
    }
  }

  private mutating func addTimes() {
    for range in TimeRange.all(of: filter, at: query.instant) {
      rest.append(range.condition("(\(range.column) + 0)"))
      ranges.append("state IN (\(states)) AND \(range.condition(range.column))")
    }
    if let days = filter.minPaidDays {
      let length = days * Instant.millisecondsPerDay
      let start = query.instant.advanced(byMilliseconds: -length).millisecondsSince1970
      rest.append("((paid_since + 0) <= \(start) OR (paid_ms + 0) >= \(length))")
    }
  }

  /// Adds the conditions that few purchases meet, which have partial indices.
  private mutating func addFlags() {
    if filter.needsPriceConsent {
      rest.append("(needs_consent + 0) = 1")
      partial.append("needs_consent = 1")
    }
    if filter.hasWinBackOffer {
      rest.append("(win_back_offers || '') <> ''")
      partial.append("win_back_offers <> ''")
    }
    if let isUnclaimed = filter.isUnclaimed {
      rest.append("(customer_id || '') \(isUnclaimed ? "=" : "<>") ''")
      if isUnclaimed { partial.append("customer_id = ''") }
    }
  }
}

/// A range of one column.
private struct TimeRange {
  let column: String
  /// Inclusive bounds.
  private let first: Int64?
  private let last: Int64?

  /// Returns the ranges that a purchase must be in at `now`, by column; days of a filter count back or forth from
  /// `now`.
  static func all(of filter: SegmentFilter, at now: Instant) -> [TimeRange] {
    func before(_ days: Int64) -> Int64 {
      now.advanced(byDays: -days).millisecondsSince1970
    }
    let starts = [
      filter.sinceFrom?.millisecondsSince1970, filter.maxDaysInState.map { before($0) + 1 },
    ].compactMap(\.self)
    let ends = [
      filter.sinceBefore.map { $0.millisecondsSince1970 - 1 }, filter.minDaysInState.map(before),
    ].compactMap(\.self)
    let time = now.millisecondsSince1970
    let ranges = [
      TimeRange(column: "since", first: starts.max(), last: ends.min()),
      TimeRange(
        column: "ends_at", first: filter.endsWithinDays.map { _ in time + 1 },
        last: filter.endsWithinDays.map { before(-$0) }),
      TimeRange(
        column: "commitment_ends_at", first: filter.commitmentEndsWithinDays.map { _ in time + 1 },
        last: filter.commitmentEndsWithinDays.map { before(-$0) }),
    ]
    return ranges.filter { $0.first != nil || $0.last != nil }
  }

  /// A condition on an expression of the column.
  func condition(_ expression: String) -> String {
    [first.map { "\(expression) >= \($0)" }, last.map { "\(expression) <= \($0)" }].compactMap(\.self)
      .joined(separator: " AND ")
  }
}

/// Texts as numbered parameters.
private struct TextParameters {
  private(set) var values: [any StatementValue] = []
  private let offset: Int

  init(after offset: Int) { self.offset = offset }

  /// Adds texts, and returns the list of their parameters.
  mutating func add(_ texts: Set<String>) -> String {
    let first = offset + values.count + 1
    let sorted = texts.sorted()
    for text in sorted { values.append(text) }
    return sorted.indices.map { "?\(first + $0)" }.joined(separator: ", ")
  }
}
