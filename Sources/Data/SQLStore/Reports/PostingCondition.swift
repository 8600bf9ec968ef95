internal import AppStore
internal import Reports

/// The rows of `posting` that may have postings of a value.
struct PostingCondition {
  /// Conditions that the index by time decides.
  private var summary: [String] = []
  private var others: [String] = []
  /// The first day; `nil`: from the beginning.
  private let earliest: ReportDay?
  /// The day after the last one.
  private var end: ReportDay

  init(_ selection: PostingSelection) {
    if selection.isOfCohort {
      if let from = selection.from { summary.append("cohort_to >= \(from.number)") }
      summary.append("cohort_from < \(selection.to.number)")
    }
    summary.append("(kinds & \(PostingSummary.bits(of: selection.signs.keys))) <> 0")
    for dimension in [ReportQuery.Dimension.product, .storefront] {
      guard let allowed = selection.dimensions[dimension], !allowed.isEmpty else { continue }
      summary.append("(dimensions & \(PostingSummary.bits(of: allowed))) <> 0")
    }
    earliest = selection.earliest
    end = selection.isOfCohort ? selection.until : selection.to
    addKnowledge(selection.knowledge)
  }

  /// The span of time.
  var ofTime: String { span("effective_at").joined(separator: " AND ") }

  /// The conditions that the index by time decides without reading the row.
  var ofIndex: String { (span("effective_at") + summary).joined(separator: " AND ") }

  /// The conditions that only the row decides, each after an AND.
  var ofRow: String { others.map { " AND \($0)" }.joined() }

  /// All conditions. A sign keeps an engine from the index by time, which would make it sort all rows for each part.
  var inOrder: String { (span("+effective_at") + summary).joined(separator: " AND ") + ofRow }

  private func span(_ instant: String) -> [String] {
    (earliest.map { ["\(instant) >= \($0.start.millisecondsSince1970)"] } ?? [])
      + ["\(instant) < \(end.start.millisecondsSince1970)"]
  }

  private mutating func addKnowledge(_ knowledge: ReportQuery.Knowledge) {
    switch knowledge {
    case .now: break
    case .whenClosed(let last):
      others.append("known_at < \(Self.closing(of: "\(last.number)"))")
      end = min(end, last.advanced(by: 1))
    case .firstClosed:
      others.append("known_at < \(Self.closing(of: "effective_at / \(ReportDay.length)"))")
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
