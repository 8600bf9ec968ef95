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
  }

  /// Returns the events in commit order, without an end. After an interruption the stream continues behind the last
  /// event. Store `event.sequence` and pass it as `.after` to continue in another process.
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
    }
    return Events(service: services.entitlement, request: request)
  }
}

/// The events of a Watch. Each iteration opens a separate stream, which ends with the iterator; the service waits for
/// a consumer that is slow.
///
/// Iteration throws `EntitledError` if the service refuses the stream, or if it is interrupted before the first
/// message of a stream that starts with the next event: events could be lost between two streams.
public struct Events: AsyncSequence, Sendable {
  /// An event with its sequence.
  public typealias Element = EntitledClient.Event

  let service: Entitled_V1_EntitlementService.Client<EntitledClient.Transport>
  let request: Entitled_V1_WatchRequest

  /// Opens a stream.
  public func makeAsyncIterator() -> Iterator {
    let channel = AsyncThrowingChannel<Element, any Error>()
    let task = Task { [service, request] in
      var position = Position(request: request)
      do {
        while true { try await position.advance(service) { await channel.send($0) } }
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
private struct Position: Sendable {
  private static let interruptions: Set<RPCError.Code> = [.unavailable, .resourceExhausted, .unknown]

  var request: Entitled_V1_WatchRequest
  var attempts = 0

  init(request: Entitled_V1_WatchRequest) {
    self.request = request
  }

  /// Hands the events of one stream to `send`, and waits if the stream was interrupted.
  mutating func advance(
    _ service: Entitled_V1_EntitlementService.Client<EntitledClient.Transport>,
    _ send: @escaping @Sendable (EntitledClient.Event) async -> Void
  ) async throws {
    var interruption: EntitledError?
    let last = Sequence(request.start.flatMap { if case .afterSequence(let n) = $0 { n } else { nil } })
    do {
      try await service.watch(request) { response in
        for try await message in response.messages {
          if case .event(let event) = message.content { await send(event) }
          await last.set(message.sequence)
        }
      }
    } catch let error as RPCError {
      interruption = EntitledError(error)
    }
    try Task.checkCancellation()
    if let sequence = await last.value {
      if request.start != .afterSequence(sequence) { attempts = 0 }
      request.afterSequence = sequence
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

/// The sequence of the last message, which the closure of a stream records.
private actor Sequence {
  private(set) var value: Int64?

  init(_ value: Int64?) {
    self.value = value
  }

  func set(_ sequence: Int64) {
    value = sequence
  }
}
