internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportPurchases(
    _ selection: PostingSelection, of appID: String, in environment: Environment, after line: String,
    limit: Int
  ) throws(StoreError) -> [ReportPurchase] {
    var condition = PostingCondition(selection)
    condition.add("line_id > ?", line)
    let values: [any StatementValue] = [appID, environment] + condition.values + [Int64(limit)]
    return try rows(
      """
      SELECT line_id, max(product_id), max(storefront), max(currency), max(reason), max(effective_at),
        CAST(sum(\(selection.value)) AS BIGINT)
      FROM posting WHERE app = ? AND environment = ? AND \(condition.text)
      GROUP BY line_id HAVING sum(\(selection.value)) <> 0 ORDER BY line_id LIMIT ?
      """, binding: values
    ) { row throws(StoreError) in
      ReportPurchase(
        line: row.text(0) ?? "", productID: row.text(1) ?? "", storefront: row.text(2) ?? "",
        currency: row.text(3) ?? "", reason: row.text(4) ?? "",
        effectiveAt: Instant(millisecondsSince1970: row.number(5)), value: row.number(6))
    }
  }
}

/// The rows of `posting` that a value adds up.
private struct PostingCondition {
  private var conditions: [String] = []
  private(set) var values: [any StatementValue] = []

  var text: String { conditions.joined(separator: " AND ") }

  init(_ selection: PostingSelection) {
    conditions = [
      "kind IN (\(selection.signs.keys.map { String($0.rawValue) }.sorted().joined(separator: ", ")))"
    ]
    addDays(selection)
    addKnowledge(selection.knowledge)
    if let mark = selection.mark { conditions.append("marks / \(1 << mark) % 2 = 1") }
    if let reasons = selection.reasons { add("reason", in: reasons) }
    if let currency = selection.currency { add("currency = ?", currency) }
    for (dimension, allowed) in selection.dimensions.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where !allowed.isEmpty {
      let column = selection.isOfCohort ? dimension.cohortColumn : dimension.postingColumn
      if let column { add(column, in: allowed) }
    }
  }

  mutating func add(_ condition: String, _ value: String) {
    conditions.append(condition)
    values.append(value)
  }

  private mutating func add(_ column: String, in allowed: Set<String>) {
    conditions.append("\(column) IN (\(Array(repeating: "?", count: allowed.count).joined(separator: ", ")))")
    for value in allowed.sorted() { values.append(value) }
  }

  private mutating func addDays(_ selection: PostingSelection) {
    if selection.isOfCohort {
      if let from = selection.from { conditions.append("cohort_day >= \(from.number)") }
      conditions.append("cohort_day < \(selection.to.number)")
      conditions.append("effective_at < \(selection.until.start.millisecondsSince1970)")
      if let ages = selection.ages {
        conditions.append("cohort_age BETWEEN \(ages.lowerBound) AND \(ages.upperBound)")
      }
      return
    }
    if let from = selection.from { conditions.append("effective_at >= \(from.start.millisecondsSince1970)") }
    conditions.append("effective_at < \(selection.to.start.millisecondsSince1970)")
    guard let lastDays = selection.lastDays else { return }
    let inTime = lastDays.sorted { $0.key < $1.key }.map { length, last in
      "(reason = '\(length)' AND effective_at < \(last.end.millisecondsSince1970))"
    }
    conditions.append("(\(inTime.joined(separator: " OR ")))")
  }

  private mutating func addKnowledge(_ knowledge: ReportQuery.Knowledge) {
    switch knowledge {
    case .now: break
    case .whenClosed(let last):
      conditions.append("known_at < \(Self.closing(of: "\(last.number)"))")
      conditions.append("effective_at < \(last.end.millisecondsSince1970)")
    case .firstClosed:
      conditions.append("known_at < \(Self.closing(of: "effective_at / \(ReportDay.length)"))")
    }
  }

  /// When a day closed: of a day that is open, never; of a day before the first closing, before everything.
  private static func closing(of day: String) -> String {
    let ofApp = "c.app = posting.app AND c.environment = posting.environment"
    return """
      coalesce((SELECT c.closed_at FROM closed_day AS c WHERE \(ofApp) AND c.day = \(day)),
        CASE WHEN \(day) > coalesce((SELECT max(c.day) FROM closed_day AS c WHERE \(ofApp)), -1000000)
          THEN \(Int64.max) ELSE 0 END)
      """
  }
}

extension PostingSelection {
  /// The amount that a row of `posting` adds, in SQL.
  fileprivate var value: String {
    let measured =
      switch measure {
      case .count: "units"
      case .amount: "amount"
      case .proceeds: "proceeds"
      case .sign: "CASE WHEN units > 0 THEN 1 WHEN units < 0 THEN -1 ELSE 0 END"
      }
    let negative = signs.filter { $0.value < 0 }.keys.map { String($0.rawValue) }.sorted()
    return negative.isEmpty
      ? measured
      : "CASE WHEN kind IN (\(negative.joined(separator: ", "))) THEN -\(measured) ELSE \(measured) END"
  }
}

extension ReportQuery.Dimension {
  fileprivate var postingColumn: String? {
    switch self {
    case .product: "product_id"
    case .group: "subscription_group"
    case .storefront: "storefront"
    case .offerKind: "offer_kind"
    case .reason: "reason"
    case .duration: nil
    }
  }

  fileprivate var cohortColumn: String? {
    switch self {
    case .product: "cohort_product_id"
    case .group: "cohort_group"
    case .storefront: "cohort_storefront"
    case .offerKind: "cohort_offer_kind"
    case .reason: "reason"
    case .duration: nil
    }
  }
}
