internal import AppStore
internal import Entitlements
internal import Store

extension SQLReader {
  func segments(of appEnvironment: AppEnvironment) throws(StoreError) -> [SavedSegment] {
    try savedSegments(where: "app = ? AND environment = ?", appEnvironment.appID, appEnvironment.environment)
  }

  func nextSegmentDue(in domain: ClockDomain) throws(StoreError) -> Instant? {
    var due = try earliest(in: "purchase_state", where: domain.condition)
    for segment in try savedSegments(where: domain.condition) {
      due = [due, try nextCrossing(of: segment)].compactMap(\.self).min()
    }
    return due
  }

  func nextPurchaseStateDue(of appEnvironment: AppEnvironment) throws(StoreError) -> Instant? {
    try rows(
      """
      SELECT due_at FROM purchase_state WHERE due_at IS NOT NULL AND app = ? AND environment = ?
      ORDER BY due_at LIMIT 1
      """, appEnvironment.appID, appEnvironment.environment
    ) { Instant(millisecondsSince1970: $0.number(0)) }.first
  }

  func nextCrossing(of segment: SavedSegment) throws(StoreError) -> Instant? {
    var next: Instant?
    for range in CrossingRange.all(of: segment) {
      let found = try rows(
        """
        SELECT \(range.column) FROM purchase_state
        WHERE \(range.condition(after: segment.evaluatedAt, upTo: nil)) ORDER BY \(range.column) LIMIT 1
        """, segment.appEnvironment.appID, segment.appEnvironment.environment
      ) { Instant(millisecondsSince1970: $0.number(0)).advanced(byMilliseconds: range.offset) }.first
      next = [next, found].compactMap(\.self).min()
    }
    return next
  }

  func members(_ query: SegmentQuery) throws(StoreError) -> [SegmentMember] {
    let plan = try plan(query)
    guard !plan.isEmpty else { return [] }
    let after = "row_number > \(query.after)"
    let parts = plan.sources.map {
      "SELECT \(PurchaseStateRows.columns) FROM purchase_state WHERE \($0) AND \(after) AND \(plan.rest)"
    }
    return try rows(
      "\(parts.joined(separator: " UNION ALL ")) ORDER BY row_number LIMIT \(query.limit)",
      binding: plan.values
    ) { row throws(StoreError) in try PurchaseStateRows.member(row) }
  }

  func memberCount(_ query: SegmentQuery, upTo limit: Int64?) throws(StoreError) -> Int64 {
    let plan = try plan(query)
    var count: Int64 = 0
    for source in plan.isEmpty ? [] : plan.sources where limit.map({ count < $0 }) ?? true {
      let rows = "FROM purchase_state WHERE \(source) AND \(plan.rest)"
      let counted =
        limit.map { "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT \($0 - count)) AS found" }
        ?? "SELECT count(*) \(rows)"
      count += try self.rows(counted, binding: plan.values) { $0.number(0) }.first ?? 0
    }
    return count
  }

  /// Selects the index by which the rows are found: the most selective one if it leads to few rows, and otherwise that by
  /// state, which has the order of the pages.
  private func plan(_ query: SegmentQuery) throws(StoreError) -> SegmentPlan {
    var plan = SegmentPlan(query)
    var best = SegmentPlan.maxCandidates + 1
    for selection in plan.isEmpty ? [] : plan.selections {
      let count = try rows(
        """
        SELECT count(*) FROM (SELECT 1 FROM purchase_state WHERE \(selection.range) AND \(plan.parameterTypes)
          LIMIT \(best)) AS found
        """, binding: plan.values
      ) { $0.number(0) }.first
      guard let count, count < best else { continue }
      best = count
      plan.sources = [
        "row_number IN (SELECT row_number FROM purchase_state WHERE \(selection.rows))"
      ]
    }
    return plan
  }
}
