import GRPCCore

/// A stream of events that is opened again after an interruption.
struct ResumableStream: Sendable {
  /// Opens a stream at the receiver's start, and hands the response to the receiver until it ends.
  typealias Open = @Sendable (StreamReceiver) async throws -> Void

  /// `aborted`: the events came faster than the caller took them.
  private static let interruptions: Set<RPCError.Code> = [
    .unavailable, .resourceExhausted, .unknown, .aborted,
  ]

  private var start: EntitledClient.Start
  private var attempts = 0
  private let onInterruption: EntitledClient.InterruptionHandler?
  private let open: Open

  init(
    start: EntitledClient.Start, onInterruption: EntitledClient.InterruptionHandler?, open: @escaping Open
  ) {
    self.start = start
    self.onInterruption = onInterruption
    self.open = open
  }

  /// Hands the events of one stream to `send`, and waits if the stream was interrupted.
  mutating func advance(_ send: @escaping @Sendable (WatchedEvent) async -> Void) async throws {
    let receiver = StreamReceiver(start: start, send: send)
    var interruption: EntitledError?
    do {
      try await open(receiver)
    } catch let error as RPCError {
      interruption = EntitledError(error)
    }
    try Task.checkCancellation()
    start = await receiver.start
    if await receiver.hasMessages { attempts = 0 }
    if let interruption, !canContinue(after: interruption) { throw interruption }
    attempts = min(attempts + 1, 9)
    let longest = min(30, 0.1 * Double(1 << attempts))
    let wait = max(
      Duration.seconds(Double.random(in: longest / 2...longest)), interruption?.retryAfter ?? .zero)
    onInterruption?(interruption, wait)
    try await Task.sleep(for: wait)
  }

  /// Whether the service would open the stream again, and no event is lost in between.
  private func canContinue(after error: EntitledError) -> Bool {
    if case .next = start { return false }
    return Self.interruptions.contains(error.code)
  }
}

/// Receives one stream, and records the start that continues it.
actor StreamReceiver {
  private(set) var start: EntitledClient.Start
  /// Whether a message was received.
  private(set) var hasMessages = false
  private let send: @Sendable (WatchedEvent) async -> Void

  init(start: EntitledClient.Start, send: @escaping @Sendable (WatchedEvent) async -> Void) {
    self.start = start
    self.send = send
  }

  /// Records where a stream that starts with the next event begins.
  func opened(_ metadata: Metadata) {
    guard case .next = start else { return }
    for position in metadata[stringValues: "entitled-position"] { start = .afterPosition(position) }
  }

  /// Sends the event of a message, and records the message; a heartbeat has no event.
  func received(_ event: EntitledClient.Event?, sequence: Int64, position: String) async {
    if let event { await send(WatchedEvent(event: event, position: position)) }
    hasMessages = true
    // A position, because a restored store may give other events the same sequences; a sequence if the caller chose one.
    if case .after = start {
      start = .after(sequence)
    } else {
      start = .afterPosition(position)
    }
  }
}

/// The request of a stream that can be continued.
protocol ResumableRequest {
  var fromBeginning: Bool { get set }
  var afterSequence: Int64 { get set }
  var afterPosition: String { get set }
}

extension ResumableRequest {
  /// The request with this start.
  func starting(_ start: EntitledClient.Start) -> Self {
    var request = self
    switch start {
    case .next: break
    case .beginning: request.fromBeginning = true
    case .after(let sequence): request.afterSequence = sequence
    case .afterPosition(let position): request.afterPosition = position
    }
    return request
  }
}

extension Entitled_V1_WatchRequest: ResumableRequest {}
extension Entitled_V1_WatchSegmentRequest: ResumableRequest {}
