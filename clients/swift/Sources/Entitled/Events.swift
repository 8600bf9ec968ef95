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

  /// Receives the error with which a stream ended, `nil` for none, and the time after which it continues.
  public typealias InterruptionHandler = @Sendable (EntitledError?, Duration) -> Void

  /// Returns the events in commit order, without an end. After an interruption the stream continues after the last
  /// event. Store `event.position` or `event.sequence`, and pass it as `.afterPosition` or `.after` to continue in
  /// another process.
  ///
  /// `onInterruption` is called each time before the stream waits to continue. Log it: a wrong address has no other sign.
  public func watch(
    from start: Start = .next, customerIDs: [String] = [], entitlements: [String] = [],
    onInterruption: InterruptionHandler? = nil
  ) -> Events {
    let request = Entitled_V1_WatchRequest.with {
      $0.app = app
      $0.environment = environment
      $0.customerIds = customerIDs
      $0.entitlements = entitlements
    }
    return Events(start: start, onInterruption: onInterruption) { [service = services.entitlement] receiver in
      try await service.watch(request.starting(receiver.start)) { response in
        await receiver.opened(response.metadata)
        for try await message in response.messages {
          var event: Event?
          if case .event(let content) = message.content { event = content }
          await receiver.received(event, sequence: message.sequence, position: message.position)
        }
      }
    }
  }

  /// Returns the events of a saved segment as ``watch(from:customerIDs:entitlements:onInterruption:)`` does: `SEGMENT_ENTERED` and
  /// `SEGMENT_LEFT` of its customers, `SEGMENT_REDEFINED` when it has to be listed again, and `CUSTOMER_ERASED` of every
  /// customer of the app. After the last event of a deleted segment, the iteration throws an error with the reason
  /// `UNKNOWN_SEGMENT`.
  public func watchSegment(
    _ segment: String, from start: Start = .next, onInterruption: InterruptionHandler? = nil
  ) -> Events {
    let request = Entitled_V1_WatchSegmentRequest.with {
      $0.app = app
      $0.environment = environment
      $0.segment = segment
    }
    return Events(start: start, onInterruption: onInterruption) { [service = services.segment] receiver in
      try await service.watchSegment(request.starting(receiver.start)) { response in
        await receiver.opened(response.metadata)
        for try await message in response.messages {
          var event: Event?
          if case .event(let content) = message.content { event = content }
          await receiver.received(event, sequence: message.sequence, position: message.position)
        }
      }
    }
  }
}

/// An event of a stream. Its members are those of ``EntitledClient/Event``.
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

/// The events of an app or of a segment. Each iteration opens a separate stream, which ends with the iterator.
///
/// A consumer that is slow takes events later and misses none: the service ends a stream whose buffer is full, and the
/// iteration continues after the last event with older events from the store.
///
/// Iteration throws `EntitledError` if the service refuses the stream, or cannot be reached when a stream is opened that
/// starts with the next event: which one that is, is not known yet.
public struct Events: AsyncSequence, Sendable {
  /// An event with its position.
  public typealias Element = WatchedEvent

  let start: EntitledClient.Start
  let onInterruption: EntitledClient.InterruptionHandler?
  let open: ResumableStream.Open

  /// Opens a stream.
  public func makeAsyncIterator() -> Iterator {
    let channel = AsyncThrowingChannel<Element, any Error>()
    let task = Task { [start, onInterruption, open] in
      var stream = ResumableStream(start: start, onInterruption: onInterruption, open: open)
      do {
        while true { try await stream.advance { await channel.send($0) } }
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
