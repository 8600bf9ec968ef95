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
  private let clocks: ServiceClocks

  init(
    broadcaster: EventBroadcaster, eventLog: EventLogReader, catalog: CurrentCatalog,
    erasedNames: ErasedNames = ErasedNames(), positionTokens: PositionTokens, clocks: ServiceClocks
  ) {
    self.broadcaster = broadcaster
    self.eventLog = eventLog
    self.catalog = catalog
    self.erasedNames = erasedNames
    self.positionTokens = positionTokens
    self.clocks = clocks
  }

  func watch(
    _ request: WatchRequest, _ responses: ResponseWriter<WatchResponse>, _ call: CallContext,
    showsOtherCustomer: Bool
  ) async throws(Status) {
    let app = try catalog.value.app(request.app)
    for entitlement in request.entitlements { try RequestValidation.entitlement(entitlement, of: app) }
    let filter = EventFilter(
      appID: app.id, environment: try app.environment(request.environment),
      customerIDs: Set(request.customerIds), entitlements: Set(request.entitlements))
    let heartbeat = try Self.heartbeat(request.heartbeatInterval)
    let newest = try await eventLog.position(of: app.id)
    var last = try start(request, newest: newest)
    var isLatest = last == newest.sequence
    // There may be no event for a long time.
    await responses.begin()
    let recipient = Recipient(
      responses: responses, appID: app.id, showsOtherCustomer: showsOtherCustomer,
      environment: try app.environment(request.environment))
    while true {
      switch broadcaster.subscribe(filter, after: last, isLatest: isLatest, heartbeat: heartbeat) {
      case .notBuffered: (last, isLatest) = try await catchUp(filter, after: last, recipient)
      case .watching(let watcher):
        call.retirement?.onBegin { watcher.close() }
        try await deliver(watcher, from: last, recipient)
      case .closed: throw .watchEnded(last)
      }
      if call.retirement?.hasBegun == true { throw .watchEnded(last) }
    }
  }

  /// Sends a page of stored events; returns the sequence that it reached, and whether it was the last page.
  private func catchUp(
    _ filter: EventFilter, after last: Int64, _ recipient: Recipient
  ) async throws(Status) -> (last: Int64, isLatest: Bool) {
    let page = try await eventLog.page(of: filter.appID, after: last, limit: Self.pageSize)
    for event in page where filter.passes(event.event) { try await send(event, recipient) }
    return (page.last?.sequence ?? last, page.count < Self.pageSize)
  }

  /// Sends new events until the subscription ends.
  private func deliver(
    _ watcher: WatchSubscription, from last: Int64, _ recipient: Recipient
  ) async throws(Status) {
    defer { broadcaster.unsubscribe(watcher) }
    var last = last
    while true {
      switch await watcher.next(clocks[nil].now) {
      case .events(let events):
        for event in events { try await send(event, recipient) }
        last = events.last?.sequence ?? last
      case .heartbeat(let sequence):
        last = sequence
        try await recipient.responses.write(
          .with {
            $0.sequence = sequence
            $0.position = positionTokens.token(
              StorePosition(sequence: sequence, evidence: 0), of: recipient.appID)
            $0.content = .heartbeat(
              .with { $0.time = GoogleProtobuf.Timestamp(clocks.now(in: recipient.environment)) })
          })
      case .fellBehind: throw .fellBehind(last)
      case .closed: throw .watchEnded(last)
      }
    }
  }

  private func send(_ event: StoredEvent, _ recipient: Recipient) async throws(Status) {
    let app = try catalog.value.app(event.event.customer.appID)
    try await recipient.responses.write(
      .with {
        $0.sequence = event.sequence
        $0.position = positionTokens.token(event.position, of: recipient.appID)
        $0.content = .event(
          EntitlementEvent(
            event, in: app, showsOtherCustomer: recipient.showsOtherCustomer,
            erasedCustomerID: erasedNames.customerID(of: event)))
      })
  }

  /// The caller of a stream.
  private struct Recipient {
    let responses: ResponseWriter<WatchResponse>
    let appID: String
    /// Whether the caller may learn the ids of other customers that an event involves.
    let showsOtherCustomer: Bool
    let environment: AppStore.Environment
  }

  /// The sequence after which the stream starts; `newest` is the position of the store.
  private func start(_ request: WatchRequest, newest: StorePosition) throws(Status) -> Int64 {
    switch request.start {
    case nil: return newest.sequence
    case .afterPosition(let token)?:
      let position = try positionTokens.position(token, of: request.app)
      guard newest.includes(position) else { throw .futurePosition }
      return position.sequence
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

/// Reads committed events for watchers that catch up.
struct EventLogReader: Sendable {
  let store: any EntitlementStore

  /// At most `limit` events of an app after `sequence`.
  func page(of appID: String, after sequence: Int64, limit: Int) async throws(Status) -> [StoredEvent] {
    do throws(StoreError) {
      return try await store.read { snapshot throws(StoreError) in
        try snapshot.events(ofApp: appID, after: sequence, limit: limit)
      }
    } catch {
      throw Status(error)
    }
  }

  /// The position of the store in the history of an app.
  func position(of appID: String) async throws(Status) -> StorePosition {
    do throws(StoreError) {
      return try await store.read { snapshot throws(StoreError) in try snapshot.position(of: appID) }
    } catch {
      throw Status(error)
    }
  }
}

extension StoredEvent {
  /// The position of a store whose last event of the app this is. Time-caused events have no evidence.
  fileprivate var position: StorePosition {
    StorePosition(sequence: sequence, evidence: event.evidenceID?.rawValue ?? 0)
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
