internal import AppStore
internal import JSON
internal import Reports
internal import Store
internal import Wire

/// An answered report, as a message or as a file.
struct ReportAnswer: Sendable {
  let query: Reports.ReportQuery
  let environment: AppStore.Environment
  let table: ReportTable
  let revisions: [Store.ReportRevision]
  let differences: [Reports.ReportDifference]
  /// The last day that was closed at ``knownAt``; `nil` without one.
  let closed: ReportDay?
  let knownAt: Instant
  /// Whether amounts stayed in their currency for want of a rate.
  let isUnconverted: Bool

  var rows: [ReportTable.Row] { table.rows }

  /// Whether the bucket of a row, or the month of its age, is not over or not closed.
  private func isIncomplete(_ row: ReportTable.Row) -> Bool {
    let bucket = query.report.name == .lifetimeValue ? row.bucket.advanced(byMonths: row.age) : row.bucket
    let end = query.granularity.firstDay(after: bucket)
    return end > query.to || closed.map { end.advanced(by: -1) > $0 } ?? true
  }

  var message: QueryReportResponse {
    .with {
      $0.environment = Wire.Environment(environment)
      $0.columns = query.report.columns.map(Wire.ReportColumn.init)
      $0.rows = rows.map { row in
        .with {
          $0.bucket = GoogleProtobuf.Timestamp(row.bucket.start)
          $0.groups = row.groups
          $0.currency = row.currency
          $0.age = row.age
          $0.values = row.values
          $0.incomplete = isIncomplete(row)
        }
      }
      $0.closedUntil = closed.map { GoogleProtobuf.Timestamp($0.end) }
      $0.knownAt = GoogleProtobuf.Timestamp(knownAt)
      $0.revisions = revisions.map { revision in
        Wire.ReportRevision(
          revision, differences.filter { $0.day == revision.day && $0.knownDay == revision.knownDay })
      }
      $0.notes = isUnconverted ? ["NO_RATE"] : []
    }
  }
}

// Files.
extension ReportAnswer {
  /// The names of the members before the values.
  private var keys: [String] {
    ["bucket"] + query.groupBy.map(\.name) + (query.report.isByCurrency ? ["currency"] : [])
      + (query.report.hasAges ? ["age"] : [])
  }

  private func keys(of row: ReportTable.Row) -> [String] {
    [String(row.bucket.start.description.prefix(10))] + row.groups
      + (query.report.isByCurrency ? [row.currency] : []) + (query.report.hasAges ? [String(row.age)] : [])
  }

  /// CSV with a header line (RFC 4180).
  var commaSeparated: String {
    let header = keys + query.report.columns.map(\.name) + ["incomplete"]
    var text = header.joined(separator: ",") + "\r\n"
    for row in rows {
      let fields = keys(of: row).map(Self.quoted) + row.values.map { String($0) }
      text += (fields + [isIncomplete(row) ? "true" : "false"]).joined(separator: ",") + "\r\n"
    }
    return text
  }

  /// One JSON object in each line. Numbers are strings, as in the messages' JSON.
  var jsonLines: String {
    var text = ""
    for row in rows {
      let members =
        zip(keys, keys(of: row)).map { ($0, JSONValue.string($1)) }
        + zip(query.report.columns, row.values).map { ($0.name, JSONValue.string(String($1))) }
      let object = JSONObject(members + [("incomplete", .bool(isIncomplete(row)))])
      text += String(decoding: object.serialized(), as: UTF8.self) + "\n"
    }
    return text
  }

  private static func quoted(_ field: String) -> String {
    guard field.contains(where: { ",\"\r\n".contains($0) }) else { return field }
    return "\"\(field.replacing("\"", with: "\"\""))\""
  }
}

extension Reports.ReportQuery.Dimension {
  /// The name in files.
  fileprivate var name: String {
    switch self {
    case .product: "product"
    case .group: "group"
    case .storefront: "storefront"
    case .offerKind: "offer_kind"
    }
  }
}

extension Wire.Report {
  init(_ report: Reports.Report) {
    self.init()
    name = report.name.rawValue
    title = report.title
    columns = report.columns.map(Wire.ReportColumn.init)
    byCurrency = report.isByCurrency
    hasAges = report.hasAges
  }
}

extension Wire.ReportColumn {
  init(_ column: Reports.ReportColumn) {
    self.init()
    name = column.name
    unit =
      switch column.unit {
      case .count: .count
      case .money: .money
      case .moneyPerYear: .moneyPerYear
      }
    role =
      switch column.role {
      case .value: .value
      case .numerator: .numerator
      case .denominator: .denominator
      }
    definition = column.definition
  }
}

extension Wire.ReportRevision {
  fileprivate init(_ revision: Store.ReportRevision, _ differences: [Reports.ReportDifference]) {
    self.init()
    self.differences = differences.map { difference in
      .with {
        $0.currency = difference.currency
        $0.values = difference.values
      }
    }
    day = GoogleProtobuf.Timestamp(revision.day.start)
    number = revision.number
    knownDay = GoogleProtobuf.Timestamp(revision.knownDay.start)
    causes = revision.causes.sorted { $0.key < $1.key }.map { cause, count in
      .with {
        $0.cause = cause
        $0.postings = count
      }
    }
  }
}
