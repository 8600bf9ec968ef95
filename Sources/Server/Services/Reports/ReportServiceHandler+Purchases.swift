internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Reports
internal import Store
internal import Wire

// The purchases behind a value.
extension ReportServiceHandler {
  /// Lists the purchases behind one value of a report, with the part of the value that each has; the parts of all pages
  /// add up to the value. The position of a page is the last purchase of the previous page.
  func listReportPurchases(
    _ request: ListReportPurchasesRequest, _ call: CallContext
  ) async throws(Status) -> ListReportPurchasesResponse {
    let (app, environment) = try context.scope(of: request)
    let (page, size) = try context.page(of: request)
    let value = try value(of: request)
    let now = context.now(in: environment)
    let knownAt = try request.query.flatMap { query throws(Status) in
      try Reports.ReportQuery.knownAt(query).map { min($0, now) }
    }
    CallScope.ask(asOf: value.query.asOf, knownAt: knownAt)
    let response = try await context.readExpensively(call) {
      reader throws(StoreError) -> ListReportPurchasesResponse in
      var query = value.query
      let closed = try reader.lastClosedDay(of: app.id, in: environment, by: knownAt ?? .openEnd)?.day
      if knownAt != nil { query.knowledge = .whenClosed(closed ?? ReportDay(number: -1_000_000)) }
      if let closed { query.leaveOutOpenDays(after: closed) }
      var durations = ProductDurations(app)
      if query.groupBy.contains(.duration) { try reader.addObservedDurations(to: &durations) }
      let found = try reader.reportPurchases(
        behind: query.postings(of: value.column, in: value.row, durations), of: app.id, in: environment,
        after: page.position ?? "", limit: size + 1)
      var response = ListReportPurchasesResponse()
      for purchase in found.purchases.prefix(size) {
        let line = LineKey(appID: app.id, environment: environment, lineID: purchase.line)
        let owner = try reader.owners(of: line).first ?? ""
        response.purchases.append(Wire.ReportPurchase(purchase, of: owner))
      }
      let end = found.purchases.count > size ? found.purchases[size - 1].line : found.end
      if let end { response.nextPageToken = page.token(after: end) }
      return response
    }
    CallScope.show(response.purchases.map(\.customerId), of: "report purchases")
    return response
  }

  /// One value of a report.
  private struct Value: Sendable {
    let query: Reports.ReportQuery
    let column: Reports.ReportColumn
    /// The row: bucket, groups, currency and age.
    let row: Reports.ReportQuery.RowKey
  }

  /// The value that a request names.
  ///
  /// - Throws: `MISSING_FIELD`, `UNKNOWN_COLUMN`, or `INVALID_FIELD` if the groups are not those of the query.
  private func value(of request: ListReportPurchasesRequest) throws(Status) -> Value {
    guard let wanted = request.query else { throw .missingField("query", "query is missing") }
    let query = try Reports.ReportQuery(wanted)
    try RequestValidation.given(request.column, "column")
    guard let column = query.report.columns.first(where: { $0.name == request.column }) else {
      let known = query.report.columns.map(\.name).joined(separator: ", ")
      throw Status(
        .invalidArgument, reason: "UNKNOWN_COLUMN", "unknown column '\(request.column)'; known: \(known)",
        field: "column")
    }
    guard let bucket = request.bucket else { throw .missingField("bucket", "bucket is missing") }
    guard request.groups.count == query.groupBy.count else {
      throw .invalidField("groups", "groups has not one value for each of group_by")
    }
    let row = Reports.ReportQuery.RowKey(
      bucket: ReportDay(try Instant(bucket, "bucket")), groups: request.groups, currency: request.currency,
      age: request.age)
    return Value(query: query, column: column, row: row)
  }
}

extension StoreSnapshot {
  /// The rows that a page reads: they take less than a tenth of a second.
  private static var rowsOfPage: Int { 5_000 }

  /// The first purchases after `line` that are behind the sum of some selections, each with its sign.
  fileprivate func reportPurchases(
    behind parts: [(sign: Int64, selection: PostingSelection)], of appID: String,
    in environment: AppStore.Environment, after line: String, limit: Int
  ) throws(StoreError) -> ReportPurchasePage {
    var sums: [String: Reports.ReportPurchase] = [:]
    var ends: [String] = []
    for part in parts {
      let found = try reportPurchases(
        part.selection, of: appID, in: environment, after: line, limit: limit,
        reading: Self.rowsOfPage / parts.count)
      for purchase in found.purchases {
        sums[purchase.line, default: purchase.without].add(purchase, part.sign)
      }
      ends += [found.end].compactMap(\.self)
    }
    // A part does not have its purchases after its end.
    let end = ends.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let purchases = sums.values.filter { purchase in
      purchase.value != 0 && end.map { !$0.utf8.lexicographicallyPrecedes(purchase.line.utf8) } ?? true
    }.sorted { $0.line.utf8.lexicographicallyPrecedes($1.line.utf8) }
    return ReportPurchasePage(purchases, upTo: end)
  }
}

extension Reports.ReportPurchase {
  /// The purchase with no part of the value yet.
  fileprivate var without: Self { with(value: 0, from: self) }

  fileprivate mutating func add(_ other: Self, _ sign: Int64) {
    self = with(value: value &+ sign &* other.value, from: effectiveAt < other.effectiveAt ? other : self)
  }

  private func with(value: Int64, from latest: Self) -> Self {
    Self(
      line: line, productID: latest.productID, storefront: latest.storefront, currency: latest.currency,
      reason: latest.reason, effectiveAt: latest.effectiveAt, value: value)
  }
}

extension Wire.ReportPurchase {
  fileprivate init(_ purchase: Reports.ReportPurchase, of customer: String) {
    self.init()
    originalTransactionId = purchase.line
    customerId = customer
    productId = purchase.productID
    storefront = purchase.storefront
    value = purchase.value
    currency = purchase.currency
    effectiveAt = GoogleProtobuf.Timestamp(purchase.effectiveAt)
    reason = purchase.reason
  }
}
