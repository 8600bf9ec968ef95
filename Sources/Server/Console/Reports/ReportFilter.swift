internal import AppStore
internal import Bytes
internal import Markup
internal import Pages
internal import Reports
internal import Wire

/// The subject of a report page: days, products, currency and state of knowledge. All of it is in the page's
/// address.
struct ReportFilter: Sendable {
  /// More buckets get no place in a chart.
  private static let maxBuckets = 120

  /// The first day, included.
  let first: ReportDay
  /// The last day, included.
  let last: ReportDay
  /// The length of a bucket: the requested one, or a longer one if the span has too many buckets for a chart.
  let granularity: Granularity
  /// The only product; `nil`: all.
  let product: String?
  /// The only storefront, ISO 3166-1 alpha-3; `nil`: all.
  let storefront: String?
  /// The currency to show, ISO 4217; `nil`: the one with the most.
  let currency: String?
  /// The currency into which the configured rates convert amounts, ISO 4217; `nil`: none.
  let convertTo: String?
  /// Whether each day is as it was when it closed.
  let isFirstClosed: Bool
  /// The day at whose end the known evidence counts; `nil`: all.
  let known: ReportDay?
  /// An event of the operator's, such as a release.
  let note: (day: ReportDay, text: String)?

  /// Reads the items of the address. A malformed one has the default of the chart, and the last day is at most today by
  /// `now`.
  init(_ chart: ReportChart, _ visit: Visit, now: Instant) {
    let today = ReportDay(now)
    let last = min(visit.value("to").flatMap(ReportDay.init(text:)) ?? today, today)
    let first = visit.value("from").flatMap(ReportDay.init(text:)) ?? last.advanced(by: -chart.days)
    self.last = last
    let earliest = last.advanced(by: 1 - Reports.ReportQuery.maxDays)
    let wanted = chart.granularities.first { $0.name == visit.value("by") } ?? chart.granularities[0]
    granularity =
      ([wanted] + Granularity.allCases.filter { $0.rawValue > wanted.rawValue }).first {
        Self.buckets(max(min(first, last), earliest), last, $0).count <= Self.maxBuckets
      } ?? .year
    // The first bucket is whole, as far as days can be asked for.
    self.first = max(granularity.firstDay(of: min(first, last)), earliest)
    product = visit.value("product")
    storefront = visit.value("storefront")
    currency = visit.value("currency")
    convertTo = visit.value("convert-to").map { $0.uppercased() }.flatMap { Self.isCurrency($0) ? $0 : nil }
    isFirstClosed = visit.value("known") == "first"
    known = isFirstClosed ? nil : visit.value("known-at").flatMap(ReportDay.init(text:))
    let text = visit.value("note")
    note = visit.value("note-day").flatMap(ReportDay.init(text:)).flatMap { day in text.map { (day, $0) } }
  }

  private static func isCurrency(_ text: String) -> Bool {
    text.utf8.count == 3 && text.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
  }

  /// Whether the amounts of a report are converted.
  func converts(_ report: Reports.Report.Name) -> Bool {
    convertTo != nil && Reports.Report.named(report).isConvertible
  }

  /// The first days of all buckets.
  var buckets: [ReportDay] { Self.buckets(first, last, granularity) }

  private static func buckets(_ first: ReportDay, _ last: ReportDay, _ granularity: Granularity)
    -> [ReportDay]
  {
    var buckets = [granularity.firstDay(of: first)]
    while let day = buckets.last.map({ granularity.firstDay(after: $0) }), day <= last { buckets.append(day) }
    return buckets
  }

  /// The query for a report.
  func query(_ report: Reports.Report.Name, proceeds: Bool = false, groupBy: [ReportDimension] = [])
    -> Wire.ReportQuery
  {
    .with {
      $0.report = report.rawValue
      $0.startTime = GoogleProtobuf.Timestamp(first.start)
      $0.endTime = GoogleProtobuf.Timestamp(last.end)
      $0.granularity = granularity.wire
      $0.groupBy = groupBy
      $0.productIds = [product].compactMap(\.self)
      $0.storefronts = [storefront].compactMap(\.self)
      $0.proceeds = proceeds
      $0.convertTo = converts(report) ? convertTo ?? "" : ""
      $0.asFirstClosed = isFirstClosed && Reports.Report.named(report).cohortKinds.isEmpty
      $0.knownAt = known.map { GoogleProtobuf.Timestamp($0.end) }
    }
  }

  /// The same in an address.
  var items: [(name: String, value: String?)] {
    [
      ("from", first.text), ("to", last.text), ("by", granularity.name), ("product", product),
      ("storefront", storefront), ("currency", currency), ("convert-to", convertTo),
      ("known", isFirstClosed ? "first" : nil),
      ("known-at", known?.text), ("note-day", note?.day.text), ("note", note?.text),
    ]
  }

  /// The same with another value of one item.
  func items(with name: String, _ value: String) -> [(name: String, value: String?)] {
    items.map { item in item.name == name ? (name: name, value: value) : item }
  }

  /// The name of a bucket, as short as its length allows.
  func name(of bucket: ReportDay) -> String {
    switch granularity {
    case .day, .week: bucket.text
    case .month, .quarter: String(bucket.text.prefix(7))
    case .year: String(bucket.text.prefix(4))
    }
  }
}

extension ReportDay {
  /// `2027-01-31`.
  var text: String { String(start.description.prefix(10)) }

  init?(text: String) {
    guard text.utf8.count == 10, let instant = Instant(rfc3339: text + "T00:00:00Z") else { return nil }
    self.init(instant)
  }
}

extension Granularity {
  /// The name in addresses.
  var name: String {
    switch self {
    case .day: "day"
    case .week: "week"
    case .month: "month"
    case .quarter: "quarter"
    case .year: "year"
    }
  }

  fileprivate var wire: ReportGranularity {
    switch self {
    case .day: .day
    case .week: .week
    case .month: .month
    case .quarter: .quarter
    case .year: .year
    }
  }
}
