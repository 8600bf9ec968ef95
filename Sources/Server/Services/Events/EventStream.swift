internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `Watch` of `entitled.v1.EntitlementService`: the events of an app as they are committed.
struct EventStream: Sendable {
  private static let pageSize = 500
  private static let heartbeats: ClosedRange<Int64> = 100...3_600_000

  private let broadcaster: EventBroadcaster
  private let eventLog: EventLogReader
  private let catalog: CurrentCatalog
  private let erasedNames: ErasedNames
  private let positionTokens: PositionTokens
  private let gate: PositionGate
  private let clocks: ServiceClocks

  init(
    broadcaster: EventBroadcaster, eventLog: EventLogReader, catalog: CurrentCatalog,
    erasedNames: ErasedNames = ErasedNames(), positionTokens: PositionTokens, gate: PositionGate,
    clocks: ServiceClocks
  ) {
    self.broadcaster = broadcaster
    self.eventLog = eventLog
    self.catalog = catalog
    self.erasedNames = erasedNames
    self.positionTokens = positionTokens
    self.gate = gate
    self.clocks = clocks
  }

  /// Streams the events that a request selects; with `segment`, those of that saved segment only.
  func watch(
    _ request: WatchRequest, segment: String? = nil, _ responses: WatchWriter, _ call: CallContext,
    showsOtherCustomer: Bool
  ) async throws(Status) {
    let app = try catalog.value.app(request.app)
    for entitlement in request.entitlements { try RequestValidation.entitlement(entitlement, of: app) }
    let filter = EventFilter(
      appID: app.id, environment: try app.environment(request.environment),
      customerIDs: Set(request.customerIds), entitlements: Set(request.entitlements), segment: segment)
    let heartbeat = try Self.heartbeat(request.heartbeatInterval)
    let required = try await requiredPosition(request)
    let newest = try await eventLog.position(of: app.id)
    var last = try start(request, after: required, newest: newest)
    var isLatest = last == newest.sequence
    var mark = newest.commitMark(isShared: isShared)
    await attach(newest, responses)
    let recipient = Recipient(
      responses: responses, appID: app.id, showsOtherCustomer: showsOtherCustomer,
      environment: try app.environment(request.environment))
    while true {
      switch broadcaster.subscribe(
        filter, after: last, isLatest: isLatest, mark: mark, heartbeat: heartbeat)
      {
      case .notBuffered: (last, isLatest, mark) = try await catchUp(filter, after: last, recipient)
      case .watching(let watcher):
        call.retirement?.onBegin { watcher.close() }
        try await deliver(watcher, from: last, recipient)
      case .closed: throw .watchEnded(last)
      }
      if call.retirement?.hasBegun == true { throw .watchEnded(last) }
    }
  }

  /// Sends a page of stored events; returns the sequence that it reached, whether it was the last page, and its mark.
  private func catchUp(
    _ filter: EventFilter, after last: Int64, _ recipient: Recipient
  ) async throws(Status) -> (last: Int64, isLatest: Bool, mark: CommitMark?) {
    let page = try await eventLog.page(of: filter.appID, after: last, limit: Self.pageSize)
    for event in page.events where filter.passes(event.event) { try await send(event, page.mark, recipient) }
    return (page.events.last?.sequence ?? last, page.events.count < Self.pageSize, page.mark)
  }

  /// Sends new events until the subscription ends.
  private func deliver(
    _ watcher: WatchSubscription, from last: Int64, _ recipient: Recipient
  ) async throws(Status) {
    defer { broadcaster.unsubscribe(watcher) }
    var last = last
    while true {
      switch await watcher.next(clocks[nil].now) {
      case .events(let events, let mark):
        for event in events { try await send(event, mark, recipient) }
        last = events.last?.sequence ?? last
      case .heartbeat(let sequence, let mark):
        last = sequence
        try await recipient.responses.write(
          .with {
            $0.sequence = sequence
            $0.position = token(sequence, of: recipient.appID, mark)
            $0.content = .heartbeat(
              .with { $0.time = GoogleProtobuf.Timestamp(clocks.now(in: recipient.environment)) })
          })
      case .fellBehind: throw .fellBehind(last)
      case .closed: throw .watchEnded(last)
      }
    }
  }

  private func send(
    _ event: StoredEvent, _ mark: CommitMark?, _ recipient: Recipient
  ) async throws(Status) {
    let app = try catalog.value.app(event.event.customer.appID)
    try await recipient.responses.write(
      .with {
        $0.sequence = event.sequence
        $0.position = token(
          event.sequence, of: recipient.appID, mark, evidence: event.event.evidenceID?.rawValue ?? 0)
        $0.content = .event(
          EntitlementEvent(
            event, in: app, showsOtherCustomer: recipient.showsOtherCustomer,
            erasedCustomerID: erasedNames.customerID(of: event)))
      })
  }

  /// The caller of a stream.
  private struct Recipient {
    let responses: WatchWriter
    let appID: String
    /// Whether the caller may learn the ids of other customers that an event involves.
    let showsOtherCustomer: Bool
    let environment: AppStore.Environment
  }

  /// The position of a store whose last event of the app has `sequence`: at `mark`, where other processes commit too,
  /// or with `evidence`. Time-caused events have none.
  private func token(
    _ sequence: Int64, of appID: String, _ mark: CommitMark?, evidence: Int64 = 0
  ) -> String {
    positionTokens.token(
      StorePosition(of: appID, sequence: sequence, mark: mark?.commits ?? evidence, term: mark?.term ?? 0))
  }

  /// Whether other processes commit too.
  private var isShared: Bool { gate.feed.isShared }

  /// Sends the header fields, because there may be no event for a long time.
  private func attach(_ newest: StorePosition, _ responses: WatchWriter) async {
    var metadata = Metadata()
    metadata.append(PositionStamp.field, Array(positionTokens.token(newest).utf8))
    await responses.begin(metadata)
  }

  /// The position after which the stream starts, which this process has or waits for.
  private func requiredPosition(_ request: WatchRequest) async throws(Status) -> StorePosition? {
    guard case .afterPosition(let token)? = request.start else { return nil }
    let position = try positionTokens.position(token, of: request.app, field: "after_position")
    try await gate.wait(for: position, field: "after_position")
    return position
  }

  /// The sequence after which the stream starts; `newest` is the position of the store.
  private func start(
    _ request: WatchRequest, after required: StorePosition?, newest: StorePosition
  ) throws(Status) -> Int64 {
    switch request.start {
    case nil: return newest.sequence
    case .afterPosition?:
      guard let required, newest.includes(required) else { throw .unknownPosition("after_position") }
      return required.sequence
    case .fromBeginning(true)?: return 0
    case .fromBeginning(false)?:
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "from_beginning is set to false; leave it unset",
        field: "from_beginning")
    case .afterSequence(let sequence)?:
      guard sequence >= 0 else {
        throw Status(
          .invalidArgument, reason: "INVALID_FIELD", "after_sequence is below 0", field: "after_sequence")
      }
      guard sequence <= newest.sequence else {
        throw .futureSequence(sequence, last: newest.sequence)
      }
      return sequence
    }
  }

  private static func heartbeat(_ interval: GoogleProtobuf.Duration?) throws(Status) -> Int64 {
    guard let interval else { return 30_000 }
    let (seconds, overflow) = interval.seconds.multipliedReportingOverflow(by: 1_000)
    let milliseconds = seconds &+ Int64(interval.nanos / 1_000_000)
    guard !overflow, heartbeats.contains(milliseconds) else {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD",
        "heartbeat_interval must be from 0.1 seconds to an hour", field: "heartbeat_interval")
    }
    return milliseconds
  }
}

/// Writes the messages of a stream of events.
struct WatchWriter: Sendable {
  /// Sends the header fields with this metadata.
  let begin: @Sendable (Metadata) async -> Void
  let write: @Sendable (WatchResponse) async throws(Status) -> Void

  /// Writes each message as `response` makes it, and then calls `check`, which may end the stream.
  init<Response: WireMessage>(
    _ responses: ResponseWriter<Response>, _ response: @escaping @Sendable (WatchResponse) -> Response,
    check: @escaping @Sendable (WatchResponse) async throws(Status) -> Void = { _ in }
  ) {
    begin = { metadata in
      await responses.attach(initial: metadata)
      await responses.begin()
    }
    write = { message throws(Status) in
      try await responses.write(response(message))
      try await check(message)
    }
  }
}

extension StorePosition {
  /// The mark of a position in a store to which other processes commit too.
  fileprivate func commitMark(isShared: Bool) -> CommitMark? {
    isShared ? CommitMark(term: term, commits: mark) : nil
  }
}

extension Status {
  fileprivate static func fellBehind(_ last: Int64) -> Status {
    Status(
      .aborted, reason: "WATCHER_FELL_BEHIND",
      "events come faster than they are taken; resume with after_sequence \(last)",
      metadata: [("resumeAfterSequence", String(last))], retryAfterMilliseconds: 0)
  }

  fileprivate static func watchEnded(_ last: Int64) -> Status {
    Status(
      .unavailable, reason: "SHUTTING_DOWN",
      "the server ends this stream; resume with after_sequence \(last)",
      metadata: [("resumeAfterSequence", String(last))], retryAfterMilliseconds: 1_000)
  }

  fileprivate static func futureSequence(_ requested: Int64, last: Int64) -> Status {
    Status(
      .outOfRange, reason: "UNKNOWN_SEQUENCE",
      "the last event is \(last), and after_sequence is \(requested)",
      metadata: [("lastSequence", String(last))], field: "after_sequence")
  }
}
