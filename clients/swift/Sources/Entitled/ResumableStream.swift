import GRPCCore

/// A message of a stream of events.
struct StreamMessage: Sendable {
  /// The sequence of the event, or of the app's last event.
  let sequence: Int64
  /// The position of the store.
  let position: String
  /// `nil`: a heartbeat.
  let event: EntitledClient.Event?
}

/// The start that continues a stream, and the wait after an interruption.
struct ResumableStream: Sendable {
  /// Opens a stream at a start, and hands its messages to a function until it ends.
  typealias Open =
    @Sendable (EntitledClient.Start, @escaping @Sendable (StreamMessage) async -> Void) async throws -> Void

  /// `aborted`: the events came faster than the caller took them.
  private static let interruptions: Set<RPCError.Code> = [
    .unavailable, .resourceExhausted, .unknown, .aborted,
  ]

  private var start: EntitledClient.Start
  private var attempts = 0
  private let open: Open

  init(start: EntitledClient.Start, open: @escaping Open) {
    self.start = start
    self.open = open
  }

  /// Hands the events of one stream to `send`, and waits if the stream was interrupted.
  mutating func advance(_ send: @escaping @Sendable (WatchedEvent) async -> Void) async throws {
    var interruption: EntitledError?
    let last = LastMessage()
    do {
      try await open(start) { message in
        if let event = message.event { await send(WatchedEvent(event: event, position: message.position)) }
        await last.set(message)
      }
    } catch let error as RPCError {
      interruption = EntitledError(error)
    }
    try Task.checkCancellation()
    if let message = await last.message {
      attempts = 0
      start = start.following(message)
    }
    if let interruption, !canContinue(after: interruption) { throw interruption }
    attempts = min(attempts + 1, 9)
    let longest = min(30, 0.1 * Double(1 << attempts))
    let wait = Duration.seconds(Double.random(in: longest / 2...longest))
    try await Task.sleep(for: max(wait, interruption?.retryAfter ?? .zero))
  }

  /// Whether the service would open the stream again, and at a known place.
  private func canContinue(after error: EntitledError) -> Bool {
    if case .next = start { return false }
    return Self.interruptions.contains(error.code)
  }
}

extension EntitledClient.Start {
  /// The start after a message: its position, because a restored store may give other events the same sequences; its
  /// sequence if the caller chose one.
  fileprivate func following(_ message: StreamMessage) -> Self {
    if case .after = self { return .after(message.sequence) }
    return .afterPosition(message.position)
  }
}

/// The last message of a stream, which its closure records.
private actor LastMessage {
  private(set) var message: StreamMessage?

  func set(_ message: StreamMessage) {
    self.message = message
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
