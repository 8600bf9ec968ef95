internal import AppStore
internal import Entitlements
internal import Store

/// Reads and writes `segment`. Each write looks at the saved segments, so they are kept in memory.
final class SegmentRows {
  /// All saved segments, ordered by name; `nil` before the first read.
  private var known: [SavedSegment]?

  func all(_ session: some SQLSession) throws(StoreError) -> [SavedSegment] {
    if let known { return known }
    let all = try session.savedSegments(where: "TRUE")
    known = all
    return all
  }

  /// Reads the segments again at the next use, because they were changed or a change was rolled back.
  func discard() { known = nil }
}

extension SQLSession {
  /// Returns saved segments, ordered by name.
  func savedSegments(
    where condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [SavedSegment] {
    try rows(
      """
      SELECT name, app, environment, conditions, is_configured, created_at, evaluated_at FROM segment
      WHERE \(condition) ORDER BY name, app, environment
      """, binding: values
    ) { row throws(StoreError) in
      SavedSegment(
        name: row.text(0) ?? "",
        of: AppEnvironment(appID: row.text(1) ?? "", environment: try row.value(2)),
        try SegmentCoding.conditions(row.bytes(3)), isConfigured: row.number(4) == 1,
        createdAt: Instant(millisecondsSince1970: row.number(5)),
        evaluatedAt: Instant(millisecondsSince1970: row.number(6)))
    }
  }
}

// Purchase states, and the saved segments.
extension SQLTransaction {
  func purchaseStates(of line: LineKey) throws(StoreError) -> [StoredPurchaseState] {
    try purchaseState.ofLine(line)
  }

  func put(_ state: StoredPurchaseState, known: StoredPurchaseState?) throws(StoreError) {
    try purchaseState.put(state, known: known)
  }

  func delete(_ state: StoredPurchaseState) throws(StoreError) { try purchaseState.delete(state) }

  func purchaseStatesDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [(line: LineKey, due: Instant)] {
    try rows(
      """
      SELECT line_id, app, environment, due_at FROM purchase_state
      WHERE due_at IS NOT NULL AND due_at <= ? AND \(domain.condition) ORDER BY due_at, line_id LIMIT ?
      """, now, limit
    ) { row throws(StoreError) in
      (try line(row), Instant(millisecondsSince1970: row.number(3)))
    }
  }

  func purchasesWithState(
    of appID: String, after last: LineKey?, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT DISTINCT line_id, app, environment FROM purchase_state
      WHERE app = ? AND (line_id, environment) > (?, ?) ORDER BY line_id, environment LIMIT ?
      """, appID, last?.lineID ?? "", last?.environment.rawValue ?? "", limit
    ) { row throws(StoreError) in try line(row) }
  }

  private func line(_ row: any SQLStatement) throws(StoreError) -> LineKey {
    LineKey(appID: row.text(1) ?? "", environment: try row.value(2), lineID: row.text(0) ?? "")
  }

  func segments(of appEnvironment: AppEnvironment) throws(StoreError) -> [SavedSegment] {
    try segment.all(self).filter { $0.appEnvironment == appEnvironment }
  }

  func segments(in domain: ClockDomain) throws(StoreError) -> [SavedSegment] {
    try segment.all(self).filter { domain.contains($0.appEnvironment.environment) }
  }

  func put(_ segment: SavedSegment) throws(StoreError) {
    try run(
      Upsert.sql(
        "segment", key: "name, app, environment",
        "name, app, environment, conditions, is_configured, created_at, evaluated_at"),
      segment.name, segment.appEnvironment.appID, segment.appEnvironment.environment,
      SegmentCoding.encode(segment.conditions), segment.isConfigured, segment.createdAt,
      segment.evaluatedAt)
    self.segment.discard()
  }

  func delete(_ segment: SavedSegment) throws(StoreError) {
    try run(
      "DELETE FROM segment WHERE name = ? AND app = ? AND environment = ?", segment.name,
      segment.appEnvironment.appID, segment.appEnvironment.environment)
    self.segment.discard()
  }

  func crossings(
    of segment: SavedSegment, by now: Instant, limit: Int
  ) throws(StoreError) -> (states: [StoredPurchaseState], end: Instant) {
    var end = now
    let ranges = CrossingRange.all(of: segment)
    for range in ranges {
      let condition = range.condition(after: segment.evaluatedAt, upTo: end)
      let bound = try rows(
        """
        SELECT \(range.column) FROM purchase_state WHERE \(condition) ORDER BY \(range.column)
        LIMIT 1 OFFSET \(limit)
        """, segment.appEnvironment.appID, segment.appEnvironment.environment
      ) { Instant(millisecondsSince1970: $0.number(0)) }.first
      if let bound { end = min(end, bound.advanced(byMilliseconds: range.offset)) }
    }
    var states: [Int64: StoredPurchaseState] = [:]
    for range in ranges {
      let found = try rows(
        """
        SELECT \(PurchaseStateRows.columns) FROM purchase_state
        WHERE \(range.condition(after: segment.evaluatedAt, upTo: end))
        """, segment.appEnvironment.appID, segment.appEnvironment.environment
      ) { row throws(StoreError) in try PurchaseStateRows.member(row) }
      for member in found { states[member.number] = member.purchase }
    }
    return (states.sorted { $0.key < $1.key }.map(\.value), end)
  }
}

/// The rows at which a time condition of a segment changes in a span of time, in the order of one index.
struct CrossingRange {
  let column: String
  /// Milliseconds after the column's time.
  let offset: Int64
  /// The condition on the state, in the form that makes the engine use the index.
  private let state: String

  static func all(of segment: SavedSegment) -> [CrossingRange] {
    let states = segment.conditions.states.map { String($0.rawValue) }
    return TimeCondition.allCases.flatMap { condition in
      let conditions =
        condition.field.isIndexedByState
        ? states.map { "state = \($0)" } : ["(state + 0) IN (\(states.joined(separator: ", ")))"]
      return condition.offsets(segment.conditions.filter).flatMap { offset in
        conditions.map { CrossingRange(column: condition.field.column, offset: offset, state: $0) }
      }
    }
  }

  /// A condition with the parameters app and environment; without `end` for all later rows.
  func condition(after start: Instant, upTo end: Instant?) -> String {
    let first = start.advanced(byMilliseconds: -offset).millisecondsSince1970
    let last = end.map { " AND \(column) <= \($0.advanced(byMilliseconds: -offset).millisecondsSince1970)" }
    return "\(state) AND \(column) > \(first)\(last ?? "") AND (app || '') = ? AND (environment || '') = ?"
  }
}

extension TimeCondition.Field {
  var column: String {
    switch self {
    case .since: "since"
    case .endsAt: "ends_at"
    case .commitmentEndsAt: "commitment_ends_at"
    case .paidSince: "paid_since"
    }
  }

  /// Whether the index of the column begins with the state.
  var isIndexedByState: Bool { self == .since || self == .endsAt }
}
