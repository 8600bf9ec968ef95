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
  private let now: @Sendable () -> Instant

  init(
    broadcaster: EventBroadcaster, eventLog: EventLogReader, catalog: CurrentCatalog,
    erasedNames: ErasedNames = ErasedNames(), now: @escaping @Sendable () -> Instant
  ) {
    self.broadcaster = broadcaster
    self.eventLog = eventLog
    self.catalog = catalog
    self.erasedNames = erasedNames
    self.now = now
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
    var last = try Self.start(request, newest: try await eventLog.lastSequence())
    // There may be no event for a long time.
    await responses.begin()
    let recipient = Recipient(responses: responses, showsOtherCustomer: showsOtherCustomer)
    while true {
      switch broadcaster.subscribe(filter, after: last, heartbeat: heartbeat) {
      case .notBuffered: last = try await catchUp(filter, after: last, recipient)
      case .watching(let watcher):
        call.retirement?.onBegin { watcher.close() }
        try await deliver(watcher, from: last, recipient)
      case .closed: throw .watchEnded(last)
      }
      if call.retirement?.hasBegun == true { throw .watchEnded(last) }
    }
  }

  /// Sends a page of stored events; returns the sequence that it reached.
  private func catchUp(
    _ filter: EventFilter, after last: Int64, _ recipient: Recipient
  ) async throws(Status) -> Int64 {
    let page = try await eventLog.page(after: last, limit: Self.pageSize)
    for event in page where filter.passes(event.event) { try await send(event, recipient) }
    return page.last?.sequence ?? last
  }

  /// Sends new events until the subscription ends.
  private func deliver(
    _ watcher: WatchSubscription, from last: Int64, _ recipient: Recipient
  ) async throws(Status) {
    defer { broadcaster.unsubscribe(watcher) }
    var last = last
    while true {
      switch await watcher.next(now) {
      case .events(let events):
        for event in events { try await send(event, recipient) }
        last = events.last?.sequence ?? last
      case .heartbeat(let sequence):
        last = sequence
        try await recipient.responses.write(
          .with {
            $0.sequence = sequence
            $0.content = .heartbeat(.with { $0.time = GoogleProtobuf.Timestamp(now()) })
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
        $0.content = .event(
          EntitlementEvent(
            event, in: app, showsOtherCustomer: recipient.showsOtherCustomer,
            erasedCustomerID: erasedNames.customerID(of: event)))
      })
  }

  /// The caller of a stream.
  private struct Recipient {
    let responses: ResponseWriter<WatchResponse>
    /// Whether the caller may learn the ids of other customers that an event involves.
    let showsOtherCustomer: Bool
  }

  /// The sequence after which the stream starts; `newest` is that of the last event.
  private static func start(_ request: WatchRequest, newest: Int64) throws(Status) -> Int64 {
    switch request.start {
    case nil: return newest
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
      guard sequence <= newest else { throw .futureSequence(sequence, last: newest) }
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

  /// At most `limit` events after `sequence`.
  func page(after sequence: Int64, limit: Int) async throws(Status) -> [StoredEvent] {
    do throws(StoreError) {
      return try await store.read { snapshot throws(StoreError) in
        try snapshot.events(of: nil, after: sequence, limit: limit)
      }
    } catch {
      throw Status(error)
    }
  }

  /// The sequence of the last committed event; 0 if there is none.
  func lastSequence() async throws(Status) -> Int64 {
    do throws(StoreError) {
      return try await store.read { snapshot throws(StoreError) in try snapshot.lastSequence(of: nil) }
    } catch {
      throw Status(error)
    }
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
