internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `Watch` of `entitled.v1.EntitlementService`: the events of an app as they are committed.
struct EventStream: Sendable {
  /// A stream holds a page while its peer does not read.
  private static let pageSize = 100
  /// The customers or entitlements that a stream selects. It holds them as long as it lasts.
  private static let maxSelected = 1_000
  /// The time for which a stream without new events waits for the broadcaster.
  private static let broadcasterPause = Duration.milliseconds(50)
  private static let heartbeats: ClosedRange<Int64> = 100...3_600_000

  private let broadcaster: EventBroadcaster
  private let eventLog: EventLogReader
  private let catalog: CurrentCatalog
  private let erasedCustomerID: @Sendable (StoredEvent) -> String?
  private let positionTokens: PositionTokens
  private let barrier: PositionBarrier
  private let clocks: ServiceClocks

  init(
    broadcaster: EventBroadcaster, eventLog: EventLogReader, catalog: CurrentCatalog,
    erasedCustomerID: @escaping @Sendable (StoredEvent) -> String?, positionTokens: PositionTokens,
    barrier: PositionBarrier, clocks: ServiceClocks
  ) {
    self.broadcaster = broadcaster
    self.eventLog = eventLog
    self.catalog = catalog
    self.erasedCustomerID = erasedCustomerID
    self.positionTokens = positionTokens
    self.barrier = barrier
    self.clocks = clocks
  }

  /// Streams the events that a request selects; with `segment`, those of that saved segment only.
  func watch(
    _ request: WatchRequest, segment: String? = nil, _ responses: WatchWriter, _ call: CallContext,
    showsOtherCustomer: Bool
  ) async throws(Status) {
    let app = try catalog.value.app(request.app)
    try Self.limit(request.customerIds, "customer_ids")
    try Self.limit(request.entitlements, "entitlements")
    for entitlement in request.entitlements { try RequestValidation.entitlement(entitlement, of: app) }
    let environment = try app.environment(request.environment)
    let customers = request.customerIds.map {
      CustomerKey(appID: app.id, environment: environment, customerID: $0)
    }
    let filter = EventFilter(
      appID: app.id, environment: environment, customers: Set(customers),
      entitlements: Set(request.entitlements), segment: segment, erasedCustomerID: erasedCustomerID)
    let heartbeat = try Self.heartbeat(request.heartbeatInterval)
    let required = try await requiredPosition(request)
    let newest = try await eventLog.position(of: app.id, including: required)
    let start = try start(request, after: required, newest: newest)
    var progress = Progress(
      last: start, isLatest: start == newest.sequence, mark: newest.commitMark(isShared: isShared))
    await attach(newest, responses)
    let recipient = Recipient(
      responses: responses, appID: app.id, showsOtherCustomer: showsOtherCustomer, environment: environment)
    while true {
      switch broadcaster.subscribe(
        filter, after: progress.last, isLatest: progress.isLatest, mark: progress.mark, heartbeat: heartbeat)
      {
      case .notBuffered:
        let previous = progress.last
        progress = try await catchUp(filter, after: progress, recipient)
        // The broadcaster has yet to read what the store has, such as another term.
        if progress.last == previous { try? await Task.sleep(for: Self.broadcasterPause) }
      case .watching(let watcher):
        call.retirement?.onBegin { watcher.close() }
        progress = try await deliver(watcher, after: progress, recipient)
      case .closed: throw .watchEnded(progress.last, token(progress, recipient))
      }
      if call.retirement?.hasBegun == true { throw .watchEnded(progress.last, token(progress, recipient)) }
    }
  }

  private static func limit(_ selected: [String], _ field: String) throws(Status) {
    guard selected.count <= maxSelected else {
      throw .invalidField(field, "\(field) has \(selected.count) elements, more than \(maxSelected)")
    }
  }

  /// The events that a stream has sent.
  private struct Progress {
    /// The sequence up to which all events were sent.
    let last: Int64
    /// Whether the store had no later event of the app a moment ago.
    let isLatest: Bool
    /// A mark at which the event with that sequence is committed.
    let mark: CommitMark?
  }

  /// Sends a page of stored events; returns the progress after it.
  private func catchUp(
    _ filter: EventFilter, after progress: Progress, _ recipient: Recipient
  ) async throws(Status) -> Progress {
    let page = try await eventLog.page(
      of: filter.appID, after: progress.last, since: progress.mark, limit: Self.pageSize)
    for event in page.events where filter.passes(event.stored) {
      try await send(event.stored, page.mark, recipient)
    }
    return Progress(
      last: page.events.last?.sequence ?? progress.last, isLatest: page.events.count < Self.pageSize,
      mark: page.mark)
  }

  /// Sends new events until the subscription ends. Returns the progress if the database lost commits, because the stream
  /// continues if it has sent none of their events.
  private func deliver(
    _ watcher: WatchSubscription, after progress: Progress, _ recipient: Recipient
  ) async throws(Status) -> Progress {
    defer { broadcaster.unsubscribe(watcher) }
    var progress = progress
    while true {
      switch await watcher.next(clocks[nil].now) {
      case .events(let events, let mark):
        for event in events { try await send(event.stored, mark, recipient) }
        progress = Progress(last: events.last?.sequence ?? progress.last, isLatest: false, mark: mark)
      case .heartbeat(let sequence, let mark):
        progress = Progress(last: sequence, isLatest: false, mark: mark)
        try await recipient.responses.write(
          .with {
            $0.sequence = sequence
            $0.position = token(sequence, of: recipient.appID, mark)
            $0.content = .heartbeat(
              .with { $0.time = GoogleProtobuf.Timestamp(clocks.now(in: recipient.environment)) })
          })
      case .historyChanged: return Progress(last: progress.last, isLatest: false, mark: progress.mark)
      case .fellBehind: throw .fellBehind(progress.last, token(progress, recipient))
      case .closed: throw .watchEnded(progress.last, token(progress, recipient))
      }
    }
  }

  /// Sends an event with its position, and waits while the peer does not read.
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
            erasedCustomerID: erasedCustomerID(event)))
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

  /// The position of what a stream has sent.
  private func token(_ progress: Progress, _ recipient: Recipient) -> String {
    token(progress.last, of: recipient.appID, progress.mark)
  }

  /// Whether other processes commit too.
  private var isShared: Bool { barrier.feed.isShared }

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
    try await barrier.wait(for: position, field: "after_position")
    return position
  }

  /// The sequence after which the stream starts; `newest` is the position of the store, which includes `required`.
  private func start(
    _ request: WatchRequest, after required: StorePosition?, newest: StorePosition
  ) throws(Status) -> Int64 {
    if let required { return required.sequence }
    switch request.start {
    case nil, .afterPosition?: return newest.sequence
    case .fromBeginning(true)?: return 0
    case .fromBeginning(false)?:
      throw .invalidField("from_beginning", "from_beginning is set to false; leave it unset")
    case .afterSequence(let sequence)?:
      guard sequence >= 0 else { throw .invalidField("after_sequence", "after_sequence is below 0") }
      guard sequence <= newest.sequence else {
        throw .futureSequence(sequence, last: newest.sequence)
      }
      return sequence
    }
  }

  /// The interval of heartbeats in milliseconds; 30 seconds if the request has none.
  ///
  /// - Throws: `INVALID_FIELD` unless it is from 0.1 seconds to an hour.
  private static func heartbeat(_ interval: GoogleProtobuf.Duration?) throws(Status) -> Int64 {
    guard let interval else { return 30_000 }
    let (seconds, overflow) = interval.seconds.multipliedReportingOverflow(by: 1_000)
    let milliseconds = seconds &+ Int64(interval.nanos / 1_000_000)
    guard !overflow, heartbeats.contains(milliseconds) else {
      throw .invalidField("heartbeat_interval", "heartbeat_interval must be from 0.1 seconds to an hour")
    }
    return milliseconds
  }
}

extension StorePosition {
  /// The mark of a position in a store to which other processes commit too.
  fileprivate func commitMark(isShared: Bool) -> CommitMark? {
    isShared ? CommitMark(term: term, commits: mark) : nil
  }
}
