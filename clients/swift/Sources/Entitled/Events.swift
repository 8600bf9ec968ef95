import AsyncAlgorithms
import GRPCCore

extension EntitledClient {
  /// Where a stream of events starts.
  public enum Start: Sendable {
    /// With the next event that is committed.
    case next
    /// With the app's first event.
    case beginning
    /// With the event after this sequence.
    case after(Int64)
    /// With the event after this position: that of a watched event, or of a response to a call that writes.
    case afterPosition(String)
  }

  /// Returns the events in commit order, without an end. After an interruption the stream continues after the last
  /// event. Store `event.position` or `event.sequence`, and pass it as `.afterPosition` or `.after` to continue in
  /// another process.
  public func watch(
    from start: Start = .next, customerIDs: [String] = [], entitlements: [String] = []
  ) -> Events {
    var request = Entitled_V1_WatchRequest()
    request.app = app
    request.environment = environment
    request.customerIds = customerIDs
    request.entitlements = entitlements
    switch start {
    case .next: break
    case .beginning: request.fromBeginning = true
    case .after(let sequence): request.afterSequence = sequence
    case .afterPosition(let position): request.afterPosition = position
    }
    return Events(service: services.entitlement, request: request)
  }
}

/// An event of a Watch. Its members are those of ``EntitledClient/Event``.
@dynamicMemberLookup
public struct WatchedEvent: Sendable {
  /// The event as the service committed it.
  public let event: EntitledClient.Event
  /// The position of the service's store at this event, an opaque token.
  ///
  /// Unlike a sequence it names the store, too: a service that was restored from an older backup refuses it.
  public let position: String

  /// A member of the event.
  public subscript<Value>(dynamicMember member: KeyPath<EntitledClient.Event, Value>) -> Value {
    event[keyPath: member]
  }
}

/// The events of a Watch. Each iteration opens a separate stream, which ends with the iterator.
///
/// A consumer that is slow takes events later and misses none: the service ends a stream whose buffer is full, and the
/// iteration continues after the last event with older events from the store.
///
/// Iteration throws `EntitledError` if the service refuses the stream, or if it is interrupted before the first
/// message of a stream that starts with the next event: events could be lost between two streams.
public struct Events: AsyncSequence, Sendable {
  /// An event with its position.
  public typealias Element = WatchedEvent

  let service: Entitled_V1_EntitlementService.Client<EntitledClient.Transport>
  let request: Entitled_V1_WatchRequest

  /// Opens a stream.
  public func makeAsyncIterator() -> Iterator {
    let channel = AsyncThrowingChannel<Element, any Error>()
    let task = Task { [service, request] in
      var watching = Watching(request: request)
      do {
        while true { try await watching.advance(service) { await channel.send($0) } }
      } catch {
        channel.fail(error)
      }
    }
    return Iterator(channel: channel.makeAsyncIterator(), task: task)
  }

  /// One stream of events, which ends with the iterator.
  public final class Iterator: AsyncIteratorProtocol {
    private var channel: AsyncThrowingChannel<Element, any Error>.Iterator
    private let task: Task<Void, Never>

    init(channel: AsyncThrowingChannel<Element, any Error>.Iterator, task: Task<Void, Never>) {
      self.channel = channel
      self.task = task
    }

    deinit { task.cancel() }

    /// Waits for the next event.
    public func next() async throws -> Element? {
      try await channel.next()
    }
  }
}

/// The request that continues a Watch, and the wait after an interruption.
private struct Watching: Sendable {
  /// `aborted`: the events came faster than the caller took them.
  private static let interruptions: Set<RPCError.Code> = [
    .unavailable, .resourceExhausted, .unknown, .aborted,
  ]

  var request: Entitled_V1_WatchRequest
  var attempts = 0

  init(request: Entitled_V1_WatchRequest) {
    self.request = request
  }

  /// Hands the events of one stream to `send`, and waits if the stream was interrupted.
  mutating func advance(
    _ service: Entitled_V1_EntitlementService.Client<EntitledClient.Transport>,
    _ send: @escaping @Sendable (WatchedEvent) async -> Void
  ) async throws {
    var interruption: EntitledError?
    let last = LastMessage()
    do {
      try await service.watch(request) { response in
        for try await message in response.messages {
          if case .event(let event) = message.content {
            await send(WatchedEvent(event: event, position: message.position))
          }
          await last.set(message)
        }
      }
    } catch let error as RPCError {
      interruption = EntitledError(error)
    }
    try Task.checkCancellation()
    if let message = await last.message {
      attempts = 0
      // A position, because a restored store may give other events the same sequences; a sequence if the caller chose one.
      if case .afterSequence = request.start {
        request.afterSequence = message.sequence
      } else {
        request.afterPosition = message.position
      }
    }
    if let interruption, !Self.interruptions.contains(interruption.code) || request.start == nil {
      throw interruption
    }
    attempts = min(attempts + 1, 9)
    let longest = min(30, 0.1 * Double(1 << attempts))
    let wait = Duration.seconds(Double.random(in: longest / 2...longest))
    try await Task.sleep(for: max(wait, interruption?.retryAfter ?? .zero))
  }
}

/// The last message of a stream, which its closure records.
private actor LastMessage {
  private(set) var message: Entitled_V1_WatchResponse?

  func set(_ message: Entitled_V1_WatchResponse) {
    self.message = message
  }
}
