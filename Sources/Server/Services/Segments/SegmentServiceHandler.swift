internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.SegmentService`: lists of customers by the state of their purchases, and who enters and leaves them.
struct SegmentServiceHandler: SegmentServiceMethods {
  let context: ServiceContext
  private let eventStream: EventStream

  init(_ context: ServiceContext) {
    self.context = context
    eventStream = EventStream(context)
  }

  /// The position of a page is the sequence of the first page and the number of the last row of the previous page.
  func listCustomers(
    _ request: ListCustomersRequest, _ call: CallContext
  ) async throws(Status) -> ListCustomersResponse {
    let app = try context.catalog.value.app(request.app)
    let place = AppEnvironment(appID: app.id, environment: try app.environment(request.environment))
    let (page, size) = try context.page(of: request)
    let start = try SegmentPosition(page.position)
    let countLimit = try Self.countLimit(request.countLimit)
    let selection = try SegmentSelection(request, in: app)
    let now = context.now(in: place.environment)
    let found = try await context.readExpensively(call) { reader throws(StoreError) -> SegmentPage? in
      guard let conditions = try selection.resolved(in: reader, at: now, of: place) else { return nil }
      let query = SegmentQuery(
        conditions.conditions, of: place, at: conditions.instant, after: start?.row ?? 0, limit: size + 1)
      let sequence = if let start { start.sequence } else { try reader.lastSequence(ofApp: app.id) }
      return SegmentPage(
        members: try reader.members(query),
        total: request.count ? try reader.memberCount(query, upTo: countLimit) : nil, sequence: sequence,
        instant: conditions.instant)
    }
    guard let found else { throw .unknownSegment(selection.name) }
    let rows = found.members.prefix(size).map { SegmentRow($0.purchase, in: app, at: found.instant) }
    CallScope.show(rows.lazy.map(\.customerId).filter { !$0.isEmpty }, of: "segment \(selection.name)")
    return .with {
      $0.rows = rows
      $0.total = found.total
      $0.sequence = found.sequence
      $0.asOf = GoogleProtobuf.Timestamp(found.instant)
      $0.environment = Wire.Environment(place.environment)
      if found.members.count > size {
        let position = SegmentPosition(sequence: found.sequence, row: found.members[size - 1].number)
        $0.nextPageToken = page.token(after: position.description)
      }
    }
  }

  /// Streams the events of a saved segment within the limit of streams of the caller. The stream ends with
  /// `UNKNOWN_SEGMENT` after the segment was deleted.
  func watchSegment(
    _ request: WatchSegmentRequest, _ responses: ResponseWriter<WatchSegmentResponse>, _ call: CallContext
  ) async throws(Status) {
    let app = try context.catalog.value.app(request.app)
    let place = AppEnvironment(appID: app.id, environment: try app.environment(request.environment))
    try RequestValidation.given(request.segment, "segment")
    let writer = WatchWriter(responses, WatchSegmentResponse.init) { response async throws(Status) in
      // The last event of a deleted segment.
      guard case .event(let event)? = response.content, event.type == "SEGMENT_REDEFINED" else { return }
      try await requireSegment(request.segment, of: place)
    }
    try await context.streams.limit.run(call) { () async throws(Status) in
      try await requireSegment(request.segment, of: place)
      try await eventStream.watch(
        WatchRequest(request), segment: request.segment, writer, call, showsOtherCustomer: false)
    }
  }

  /// Requires a saved segment.
  ///
  /// - Throws: `UNKNOWN_SEGMENT`.
  private func requireSegment(_ name: String, of place: AppEnvironment) async throws(Status) {
    let known = try await context.read { reader throws(StoreError) in
      try reader.segments(of: place).contains { $0.name == name }
    }
    guard known else { throw .unknownSegment(name) }
  }

  /// The position of a page is the name of the last segment of the previous page.
  func listSegments(
    _ request: ListSegmentsRequest, _ call: CallContext
  ) async throws(Status) -> ListSegmentsResponse {
    let app = try context.catalog.value.app(request.app)
    let place = AppEnvironment(appID: app.id, environment: try app.environment(request.environment))
    let now = context.now(in: place.environment)
    let size = try RequestValidation.pageSize(request.pageSize)
    let countLimit = try Self.countLimit(request.countLimit)
    let page = try context.pageTokens.page(request)
    return try await context.readExpensively(call) { reader throws(StoreError) in
      let rest = try reader.segments(of: place).filter { $0.name > page.position ?? "" }
      var response = ListSegmentsResponse()
      for segment in rest.prefix(size) {
        var message = Wire.Segment(segment)
        if request.count {
          let instant = try reader.instant(of: segment, atMost: now)
          message.total = try reader.memberCount(
            SegmentQuery(segment.conditions, of: place, at: instant, limit: 0), upTo: countLimit)
        }
        response.segments.append(message)
      }
      if rest.count > size { response.nextPageToken = page.token(after: rest[size - 1].name) }
      return response
    }
  }

  /// The number of rows up to which members are counted; `nil`: all.
  ///
  /// - Throws: `INVALID_FIELD` for a negative one.
  private static func countLimit(_ limit: Int64) throws(Status) -> Int64? {
    guard limit >= 0 else {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "count_limit is negative", field: "count_limit")
    }
    return limit == 0 ? nil : limit
  }

  /// Saves a segment. Its present members cause no events: only later changes do.
  ///
  /// - Throws: `SEGMENT_EXISTS` for another filter, `TOO_MANY_SEGMENTS`, `INVALID_FIELD`.
  func createSegment(
    _ request: CreateSegmentRequest, _ call: CallContext
  ) async throws(Status) -> CreateSegmentResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    let scope = CommandScope(appID: app.id, environment: try app.environment(request.environment))
    try RequestValidation.given(request.name, "name")
    guard SegmentFilter.isValid(name: request.name) else {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD",
        "name is not 1 to 64 letters, digits, '-', '_' and '.'", field: "name")
    }
    guard let message = request.filter else {
      throw Status(.invalidArgument, reason: "MISSING_FIELD", "filter is missing", field: "filter")
    }
    let filter = try Entitlements.SegmentFilter(message, in: app)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.createSegment(request.name, filter, scope)
    } response: { result in
      .with { $0.segment = result.segment.map(Wire.Segment.init) }
    }
  }

  /// Deletes a segment that a call has saved.
  ///
  /// - Throws: `UNKNOWN_SEGMENT`, or `CONFIGURED_SEGMENT` for one of the configuration.
  func deleteSegment(
    _ request: DeleteSegmentRequest, _ call: CallContext
  ) async throws(Status) -> DeleteSegmentResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    let scope = CommandScope(appID: app.id, environment: try app.environment(request.environment))
    try RequestValidation.given(request.name, "name")
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.deleteSegment(request.name, scope)
    } response: { _ in
      DeleteSegmentResponse()
    }
  }
}

/// The parts of one page of a segment.
private struct SegmentPage: Sendable {
  let members: [SegmentMember]
  let total: Int64?
  let sequence: Int64
  let instant: Instant
}

/// The position of a page of a segment.
private struct SegmentPosition {
  let sequence: Int64
  let row: Int64

  init(sequence: Int64, row: Int64) {
    self.sequence = sequence
    self.row = row
  }

  init?(_ text: String?) throws(Status) {
    guard let text else { return nil }
    let numbers = text.split(separator: ".").compactMap { Int64($0) }
    guard numbers.count == 2, numbers[0] >= 0, numbers[1] > 0 else { throw .invalidPageToken }
    self.init(sequence: numbers[0], row: numbers[1])
  }

  var description: String { "\(sequence).\(row)" }
}

/// The segment that a request lists.
private enum SegmentSelection: Sendable {
  case saved(String)
  case conditions(SegmentConditions)

  init(_ request: ListCustomersRequest, in app: AppDefinition) throws(Status) {
    switch request.selection {
    case .segment(let name)?:
      try RequestValidation.given(name, "segment")
      self = .saved(name)
    case .filter(let message)?:
      self = .conditions(SegmentConditions(try Entitlements.SegmentFilter(message, in: app), in: app))
    case nil:
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD", "one of segment and filter is required", field: "selection"
      )
    }
  }

  /// The name of a saved segment; empty for conditions.
  var name: String { if case .saved(let name) = self { name } else { "" } }

  /// The conditions and the instant at which the store has their members; `nil` for an unknown segment.
  func resolved(
    in reader: any StoreSnapshot, at now: Instant, of place: AppEnvironment
  ) throws(StoreError) -> (conditions: SegmentConditions, instant: Instant)? {
    switch self {
    case .conditions(let conditions):
      return (conditions, try reader.purchaseStateInstant(of: place, atMost: now))
    case .saved(let name):
      guard let segment = try reader.segments(of: place).first(where: { $0.name == name }) else { return nil }
      return (segment.conditions, try reader.instant(of: segment, atMost: now))
    }
  }
}

extension StoreSnapshot {
  /// The last instant at which the stored states of purchases are right: now, unless a change is overdue.
  fileprivate func purchaseStateInstant(
    of place: AppEnvironment, atMost now: Instant
  ) throws(StoreError) -> Instant {
    try nextPurchaseStateDue(of: place).map { min($0.advanced(byMilliseconds: -1), now) } ?? now
  }

  /// The last instant up to which the events of a segment give its members.
  fileprivate func instant(of segment: SavedSegment, atMost now: Instant) throws(StoreError) -> Instant {
    let instant = try purchaseStateInstant(of: segment.appEnvironment, atMost: now)
    return try nextCrossing(of: segment).map { min($0.advanced(byMilliseconds: -1), instant) } ?? instant
  }
}

extension Status {
  /// `UNKNOWN_SEGMENT`; `field` has the name of the segment in the request.
  static func unknownSegment(_ name: String, field: String = "segment") -> Status {
    Status(
      .notFound, reason: "UNKNOWN_SEGMENT", "the app has no saved segment '\(name)' in this environment",
      metadata: [("segment", name)], field: field)
  }
}

extension WatchRequest {
  /// The part of a request about a segment that is about its events.
  fileprivate init(_ request: WatchSegmentRequest) {
    self.init()
    app = request.app
    environment = request.environment
    heartbeatInterval = request.heartbeatInterval
    switch request.start {
    case .afterSequence(let sequence)?: start = .afterSequence(sequence)
    case .fromBeginning(let isSet)?: start = .fromBeginning(isSet)
    case .afterPosition(let position)?: start = .afterPosition(position)
    case nil: break
    }
  }
}

extension WatchSegmentResponse {
  fileprivate init(_ response: WatchResponse) {
    self.init()
    sequence = response.sequence
    position = response.position
    switch response.content {
    case .event(let event)?: content = .event(event)
    case .heartbeat(let heartbeat)?: content = .heartbeat(heartbeat)
    case nil: break
    }
  }
}
