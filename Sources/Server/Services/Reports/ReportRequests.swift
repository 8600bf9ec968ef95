internal import AppStore
internal import Entitlements
internal import RPC
internal import Reports
internal import Wire

extension Reports.ReportQuery {
  private static let groupLimit = 10_000
  /// The maximum number of values of a filter: each is a parameter of a statement.
  private static let filterLimit = 1_000

  /// The query of a request.
  ///
  /// Its ``knowledge`` does not consider `known_at`.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the field that is wrong.
  init(_ query: Wire.ReportQuery) throws(Status) {
    try RequestValidation.given(query.report, "query.report")
    guard let name = Reports.Report.Name(rawValue: query.report) else {
      let known = Reports.Report.Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw Status(
        .invalidArgument, reason: "UNKNOWN_REPORT", "unknown report '\(query.report)'; known: \(known)",
        field: "query.report")
    }
    let days = try Self.days(query.startTime, query.endTime, prefix: "query.")
    self.init(
      name, from: days.lowerBound, to: days.upperBound,
      by: try Self.granularity(query.granularity), groupBy: try Self.dimensions(query.groupBy),
      filters: [
        .product: try Self.filter(query.productIds, "product_ids"),
        .group: try Self.filter(query.subscriptionGroups, "subscription_groups"),
        .storefront: try Self.filter(query.storefronts, "storefronts"),
      ],
      isOfProceeds: query.proceeds, knowledge: query.asFirstClosed ? .firstClosed : .now)
    guard Set(groupBy).isSubset(of: report.dimensions) else {
      throw .invalid("group_by", "the report '\(query.report)' cannot be grouped by reason")
    }
    try addLimits(query)
    guard !query.asFirstClosed || report.cohortKinds.isEmpty else {
      throw .invalid("as_first_closed", "a report by cohort has no first closing; set known_at")
    }
    guard query.convertTo.isEmpty || report.isConvertible else {
      throw .invalid("convert_to", "the report '\(query.report)' is not converted")
    }
  }

  /// Takes over `max_groups` and `as_of`.
  private mutating func addLimits(_ query: Wire.ReportQuery) throws(Status) {
    guard (0...Int32(Self.groupLimit)).contains(query.maxGroups) else {
      throw .invalid("max_groups", "max_groups is not between 0 and \(Self.groupLimit)")
    }
    maxGroups = query.maxGroups == 0 ? nil : Int(query.maxGroups)
    guard let asOf = query.asOf else { return }
    let instant = try Instant(asOf, "query.as_of")
    guard ReportDay(instant).advanced(by: 1) == to else {
      throw .invalid("as_of", "as_of is not in the last day of the query")
    }
    guard !query.asFirstClosed else {
      throw .invalid("as_of", "as_of and as_first_closed exclude each other")
    }
    self.asOf = instant
  }

  /// The days of a request whose fields `start_time` and `end_time` have a prefix.
  static func days(
    _ from: GoogleProtobuf.Timestamp?, _ to: GoogleProtobuf.Timestamp?, prefix: String
  ) throws(Status) -> Range<ReportDay> {
    guard let from, let to else {
      throw .missingField(
        prefix + (from == nil ? "start_time" : "end_time"),
        "start_time and end_time are required: starts of days, the second excluded")
    }
    let (first, end) = (try Instant(from, prefix + "start_time"), try Instant(to, prefix + "end_time"))
    for (instant, field) in [(first, "start_time"), (end, "end_time")] {
      guard ReportDay(instant).start == instant else {
        throw Status(
          .invalidArgument, reason: "INVALID_RANGE", "\(field) is not the start of a day in UTC",
          field: prefix + field)
      }
    }
    let length = ReportDay(end).number - ReportDay(first).number
    guard length > 0, length <= maxDays else {
      throw Status(
        .invalidArgument, reason: "INVALID_RANGE",
        "end_time is not between 1 and \(maxDays) days after start_time", field: prefix + "end_time")
    }
    return ReportDay(first)..<ReportDay(end)
  }

  /// The values of a filter; empty: no filter.
  private static func filter(_ values: [String], _ field: String) throws(Status) -> Set<String> {
    guard values.count <= filterLimit else {
      throw .invalid(field, "\(field) has \(values.count) values, and may have \(filterLimit)")
    }
    return Set(values)
  }

  /// The `known_at` of a query; `nil` without one.
  static func knownAt(_ query: Wire.ReportQuery) throws(Status) -> Instant? {
    guard let knownAt = query.knownAt else { return nil }
    guard !query.asFirstClosed else {
      throw .invalid("known_at", "known_at and as_first_closed exclude each other")
    }
    return try Instant(knownAt, "query.known_at")
  }

  private static func granularity(_ granularity: Wire.ReportGranularity) throws(Status) -> Granularity {
    switch granularity {
    case .unspecified, .day: return .day
    case .week: return .week
    case .month: return .month
    case .quarter: return .quarter
    case .year: return .year
    case .unrecognized(let number): throw .invalid("granularity", "unknown granularity \(number)")
    }
  }

  private static func dimensions(_ wanted: [Wire.ReportDimension]) throws(Status) -> [Dimension] {
    guard wanted.count <= 2, Set(wanted).count == wanted.count else {
      throw .invalid("group_by", "group_by has more than two dimensions, or one twice")
    }
    var dimensions: [Dimension] = []
    for dimension in wanted {
      switch dimension {
      case .product: dimensions.append(.product)
      case .group: dimensions.append(.group)
      case .storefront: dimensions.append(.storefront)
      case .offerKind: dimensions.append(.offerKind)
      case .duration: dimensions.append(.duration)
      case .reason: dimensions.append(.reason)
      case .unspecified, .unrecognized: throw .invalid("group_by", "unknown dimension \(dimension.rawValue)")
      }
    }
    return dimensions
  }
}

extension RateTable {
  /// Enough for sixty currencies on each day of the longest query.
  private static let limit = 50_000

  /// The rates of a request, or those of the configuration that were known at an instant.
  init(_ query: Wire.ReportQuery, or configured: [ExchangeRate], knownAt: Instant?) throws(Status) {
    guard !query.rates.isEmpty else {
      self.init(
        configured.filter { rate in
          rate.knownAt.map { known in knownAt.map { known <= $0 } ?? true } ?? true
        }.map { rate in
          Rate(
            rate.currency, to: rate.target, from: ReportDay(rate.from), millionths: rate.millionths)
        })
      return
    }
    guard query.rates.count <= Self.limit else {
      throw .invalid("rates", "there are more than \(Self.limit) rates")
    }
    var rates: [Rate] = []
    for rate in query.rates {
      guard let from = rate.startTime, rate.millionths > 0, !rate.currency.isEmpty else {
        throw .invalid("rates", "a rate needs a currency, a first day and a number above 0")
      }
      rates.append(
        Rate(
          rate.currency, to: query.convertTo, from: ReportDay(try Instant(from, "query.rates")),
          millionths: rate.millionths))
    }
    self.init(rates)
  }
}

extension Status {
  fileprivate static func invalid(_ field: String, _ message: String) -> Status {
    .invalidField("query.\(field)", message)
  }
}
