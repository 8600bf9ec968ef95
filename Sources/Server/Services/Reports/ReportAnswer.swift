internal import AppStore
internal import Bytes
internal import JSON
internal import Reports
internal import SignedData
internal import Store
internal import Wire

/// An answered report, as a message or as a file.
struct ReportAnswer: Sendable {
  /// The query that was answered, with the knowledge that `known_at` selects.
  let query: Reports.ReportQuery
  let environment: AppStore.Environment
  /// The rows in their order.
  let table: ReportTable
  /// The changes of days after their closing.
  let revisions: [Store.ReportRevision]
  /// What each revision changed in the columns of the query.
  let differences: [Reports.ReportDifference]
  /// The last day that was closed at ``knownAt``; `nil` without one.
  let closed: ReportDay?
  /// When what the answer knows was known: the last closing by the requested instant, or now.
  let knownAt: Instant
  /// Whether amounts stayed in their currency for want of a rate.
  let isUnconverted: Bool
  /// The days of the query whose movements do not explain their stocks.
  let brokenDays: [ReportDay]

  var rows: [ReportTable.Row] { table.rows }

  /// Whether the bucket of a row, or the month of its age, is not whole, not over or not closed.
  private func isIncomplete(_ row: ReportTable.Row) -> Bool {
    let end = query.end(of: row.bucket, age: row.age)
    return row.bucket < query.from || end > query.to || (query.asOf != nil && end == query.to)
      || closed.map { end.advanced(by: -1) > $0 } ?? true
  }

  /// The days by which a revision is found: its own, and that with whose closing it became known.
  private struct RevisionDays: Hashable {
    let day: ReportDay
    let knownDay: ReportDay
  }

  /// The answer as a message. Its hash is that of the CSV file, so two answers with the same rows have the same hash.
  var message: QueryReportResponse {
    let differences = Dictionary(grouping: differences) { RevisionDays(day: $0.day, knownDay: $0.knownDay) }
    return .with {
      $0.environment = Wire.Environment(environment)
      $0.columns = query.report.columns.map { Wire.ReportColumn($0, isOfProceeds: query.isOfProceeds) }
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
        let days = RevisionDays(day: revision.day, knownDay: revision.knownDay)
        return Wire.ReportRevision(revision, differences[days] ?? [])
      }
      $0.notes =
        (isUnconverted ? ["NO_RATE"] : [])
        + brokenDays.map { "IDENTITY_BROKEN \($0.start.description.prefix(10))" }
      $0.edition = Reports.Report.edition
      $0.resultHash = Hex.encode(SHA256.hash(commaSeparated[...]))
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

  /// The values of ``keys`` but the first one.
  private func keys(of row: ReportTable.Row) -> [String] {
    row.groups + (query.report.isByCurrency ? [row.currency] : [])
      + (query.report.hasAges ? [String(row.age)] : [])
  }

  /// CSV with a header line (RFC 4180), in UTF-8.
  var commaSeparated: [UInt8] {
    let header = keys + query.report.columns.map(\.name) + ["incomplete"]
    var bytes = Array((header.joined(separator: ",") + "\r\n").utf8)
    bytes.reserveCapacity(bytes.count + rows.count * (header.count * 6 + 20))
    // Values that follow from the bucket are the same in all its rows, and take longer than the rest.
    var (bucket, day, isOpen) = (ReportDay?.none, "", false)
    for row in rows {
      if row.bucket != bucket {
        bucket = row.bucket
        day = String(row.bucket.start.description.prefix(10))
        isOpen = isIncomplete(row)
      } else if query.report.agesAreMonths {
        isOpen = isIncomplete(row)
      }
      bytes += day.utf8
      for group in row.groups { Self.append(group, to: &bytes) }
      if query.report.isByCurrency { Self.append(row.currency, to: &bytes) }
      if query.report.hasAges {
        bytes.append(UInt8(ascii: ","))
        bytes.append(decimal: row.age)
      }
      for value in row.values {
        bytes.append(UInt8(ascii: ","))
        bytes.append(decimal: value)
      }
      bytes += (isOpen ? ",true\r\n" : ",false\r\n").utf8
    }
    return bytes
  }

  /// Appends a comma and a field, quoted if it needs to be.
  private static func append(_ field: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: ","))
    bytes += CSVField.quoted(field).utf8
  }

  /// One JSON object in each line. Numbers are strings, as in the messages' JSON.
  var jsonLines: [UInt8] {
    var bytes: [UInt8] = []
    for row in rows {
      let day = String(row.bucket.start.description.prefix(10))
      let members =
        zip(keys, [day] + keys(of: row)).map { ($0, JSONValue.string($1)) }
        + zip(query.report.columns, row.values).map { ($0.name, JSONValue.string(String($1))) }
      let object = JSONObject(members + [("incomplete", .bool(isIncomplete(row)))])
      bytes += object.serialized()
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
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
    case .duration: "duration"
    case .reason: "reason"
    }
  }
}

extension Wire.Report {
  init(_ report: Reports.Report) {
    self.init()
    name = report.name.rawValue
    title = report.title
    columns = report.columns.map { Wire.ReportColumn($0, isOfProceeds: false) }
    dimensions = report.dimensions.map(Wire.ReportDimension.init)
    byCurrency = report.isByCurrency
    hasAges = report.hasAges
  }
}

extension Wire.ReportDimension {
  fileprivate init(_ dimension: Reports.ReportQuery.Dimension) {
    self =
      switch dimension {
      case .product: .product
      case .group: .group
      case .storefront: .storefront
      case .offerKind: .offerKind
      case .duration: .duration
      case .reason: .reason
      }
  }
}

extension Wire.ReportColumn {
  init(_ column: Reports.ReportColumn, isOfProceeds: Bool) {
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
    provenance = column.isEstimated || (isOfProceeds && column.unit != .count) ? .estimated : .stated
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

extension [UInt8] {
  /// Appends a number in decimal digits, without a text or an array for it: an export has millions, and most are 0.
  fileprivate mutating func append(decimal value: Int64) {
    guard value != 0 else { return append(UInt8(ascii: "0")) }
    if value < 0 { append(UInt8(ascii: "-")) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var (rest, first) = (value.magnitude, digits.count)
      while rest > 0 {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
        rest = quotient
      }
      append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }
}
