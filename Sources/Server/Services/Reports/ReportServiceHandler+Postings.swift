internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Reports
internal import Store
internal import Wire

// The parts of reports.
extension ReportServiceHandler {
  private static let pageSize = 1_000

  /// Streams postings: those after a number in the order in which they were derived, or those of a time range. Each
  /// page reads a separate snapshot. With `opening`, the stocks at the start of the range come first.
  ///
  /// - Throws: `UNKNOWN_POSTING` if the posting to continue from is gone; `INVALID_RANGE`.
  func listPostings(
    _ request: ListPostingsRequest, _ responses: ResponseWriter<ListPostingsResponse>, _ call: CallContext
  ) async throws(Status) {
    let (app, environment) = try context.scope(of: request)
    guard request.afterNumber >= 0 else { throw .invalidField("after_number", "after_number is below 0") }
    let span = try Self.span(of: request)
    try await requirePosting(request.afterNumber, app.id, environment, call)
    await responses.begin()
    if request.opening, let span {
      let day = ReportDay(span.lowerBound)
      let sums = try await context.readExpensively(call) { reader throws(StoreError) in
        try reader.openingStocks(of: day, of: app.id, in: environment)
      }
      try await Self.send(sums.map(Wire.ReportPosting.init), responses)
    }
    var last: StoredPosting?
    while true {
      let page = try await context.readExpensively(call) { [last] reader throws(StoreError) in
        if let span {
          return try reader.postings(
            in: span, after: last, of: app.id, in: environment, limit: Self.pageSize)
        }
        return try reader.postings(
          after: last?.position ?? request.afterNumber, of: app.id, in: environment, limit: Self.pageSize)
      }
      try await Self.send(page.map(Wire.ReportPosting.init), responses)
      last = page.last
      guard page.count == Self.pageSize else { return }
    }
  }

  /// Requires that a posting from which a caller continues still exists: postings that were derived again have new numbers,
  /// and would count twice for a caller with the old ones.
  private func requirePosting(
    _ number: Int64, _ appID: String, _ environment: AppStore.Environment, _ call: CallContext
  ) async throws(Status) {
    guard number > 0 else { return }
    let found = try await context.readExpensively(call) { reader throws(StoreError) in
      try reader.postings(after: number - 1, of: appID, in: environment, limit: 1)
    }
    guard found.first?.position == number else {
      throw Status(
        .outOfRange, reason: "UNKNOWN_POSTING",
        "the posting \(number) is gone, because postings were derived again; begin again from the first one",
        field: "after_number")
    }
  }

  /// Sends postings, 1,000 in a message.
  private static func send(
    _ postings: [Wire.ReportPosting], _ responses: ResponseWriter<ListPostingsResponse>
  ) async throws(Status) {
    var rest = postings[...]
    while !rest.isEmpty {
      let page = rest.prefix(pageSize)
      rest = rest.dropFirst(page.count)
      try await responses.write(.with { $0.postings = Array(page) })
    }
  }

  /// The requested time range; `nil` for a request by number.
  private static func span(of request: ListPostingsRequest) throws(Status) -> Range<Instant>? {
    guard request.startTime != nil || request.endTime != nil else {
      guard !request.opening else {
        throw .invalidRange("opening needs start_time and end_time", field: "opening")
      }
      return nil
    }
    guard request.afterNumber == 0 else {
      throw .invalidRange("after_number excludes start_time and end_time", field: "after_number")
    }
    guard let from = request.startTime, let to = request.endTime else {
      let missing = request.startTime == nil ? "start_time" : "end_time"
      throw .invalidRange("start_time and end_time need each other", field: missing)
    }
    let (first, end) = (try Instant(from, "start_time"), try Instant(to, "end_time"))
    let maxDays = Reports.ReportQuery.maxDays
    guard first < end, end <= first.advanced(byDays: maxDays) else {
      throw .invalidRange("end_time is not within \(maxDays) days after start_time", field: "end_time")
    }
    guard !request.opening || ReportDay(first).start == first else {
      throw .invalidRange("with opening, start_time is the start of a day in UTC", field: "start_time")
    }
    return first..<end
  }
}

extension Wire.ReportPosting {
  fileprivate init(_ stored: StoredPosting) {
    self.init(stored.posting)
    number = stored.position
    effectiveAt = GoogleProtobuf.Timestamp(stored.posting.effectiveAt)
    knownAt = GoogleProtobuf.Timestamp(stored.knownAt)
    cause = stored.cause.rawValue
  }

  fileprivate init(_ posting: Reports.Posting) {
    self.init()
    kind = posting.kind.name
    stock = posting.kind.isStock
    originalTransactionId = posting.line
    transactionId = posting.transactionID
    productId = posting.dimensions.productID
    subscriptionGroup = posting.dimensions.group
    storefront = posting.dimensions.storefront
    offerKind = posting.dimensions.offerKind
    reason = posting.reason
    units = posting.count
    amount = posting.amount
    proceeds = posting.proceeds
    currency = posting.currency
  }
}

extension Status {
  fileprivate static func invalidRange(_ message: String, field: String) -> Status {
    Status(.invalidArgument, reason: "INVALID_RANGE", message, field: field)
  }
}
