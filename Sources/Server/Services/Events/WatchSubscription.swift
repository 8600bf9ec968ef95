internal import AppStore
internal import Store
internal import Synchronization

/// The buffer of events for one watcher.
final class WatchSubscription: Sendable {
  /// The next message for the watcher.
  enum Delivery {
    /// All of them are committed at the mark.
    case events([SharedEvent], CommitMark?)
    /// No event for the heartbeat interval; all events up to this sequence, committed at the mark, are delivered.
    case heartbeat(upTo: Int64, CommitMark?)
    /// The buffer overflowed; the watcher must resume after the last delivered event.
    case fellBehind
    /// The database lost commits whose events may have been delivered; the watcher must read the store.
    case historyChanged
    /// The subscription has ended.
    case closed
  }

  private struct State {
    var buffered: [SharedEvent] = []
    var end: Delivery?
    var upTo: Int64
    var mark: CommitMark?
    var lastDelivery: Instant
    var isHeartbeatDue = false
    var receiver: CheckedContinuation<Void, Never>?
  }

  private let filter: EventFilter
  private let start: Int64
  private let heartbeat: Int64
  private let capacity: Int
  private let state: Mutex<State>

  /// The app whose events the watcher gets.
  var appID: String { filter.appID }

  /// A subscription after `sequence`, which is committed at `mark`, that buffers at most `capacity` events, with a
  /// heartbeat after that many milliseconds without an event.
  init(
    _ filter: EventFilter, after sequence: Int64, mark: CommitMark?, heartbeat: Int64, capacity: Int,
    now: Instant
  ) {
    self.filter = filter
    start = sequence
    self.heartbeat = heartbeat
    self.capacity = capacity
    state = Mutex(State(upTo: sequence, mark: mark, lastDelivery: now))
  }

  /// Buffers the events that pass the filter, all committed at `mark`. Does not wake the receiver; see ``resume()``.
  func enqueue(_ events: ArraySlice<SharedEvent>, upTo sequence: Int64, _ mark: CommitMark?) {
    let passing = events.filter { $0.sequence > start && filter.passes($0.stored) }
    state.withLock { state in
      guard state.end == nil else { return }
      state.upTo = max(state.upTo, sequence)
      // A subscription begins at a later mark than the events that were published before.
      if let mark, mark.commits >= state.mark?.commits ?? 0 { state.mark = mark }
      state.buffered += passing
      if state.buffered.count > capacity {
        state.buffered = []
        state.end = .fellBehind
      }
    }
  }

  /// Wakes the receiver if a delivery is ready.
  func resume() {
    let receiver = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.buffered.isEmpty || state.end != nil || state.isHeartbeatDue else { return nil }
      defer { state.receiver = nil }
      return state.receiver
    }
    receiver?.resume()
  }

  /// Makes a heartbeat due if no event was delivered for the heartbeat interval.
  func requestHeartbeat(at now: Instant) {
    state.withLock { state in
      // The interval begins again if the clock was set back.
      state.lastDelivery = min(state.lastDelivery, now)
      guard now.milliseconds(since: state.lastDelivery) >= heartbeat, state.receiver != nil else { return }
      state.isHeartbeatDue = true
      state.lastDelivery = now
    }
    resume()
  }

  /// Ends the subscription.
  func close() {
    state.withLock { $0.end = .closed }
    resume()
  }

  /// Ends the subscription, unless it has ended, because the database lost commits.
  func endHistory() {
    state.withLock { $0.end = $0.end ?? .historyChanged }
    resume()
  }

  /// Waits for the next delivery. Returns ``Delivery/closed`` if the task is cancelled.
  func next(_ now: @Sendable () -> Instant) async -> Delivery {
    await withTaskCancellationHandler {
      while true {
        if let delivery = dequeue(at: now()) { return delivery }
        await withCheckedContinuation { continuation in
          let isReady = state.withLock { state in
            guard state.buffered.isEmpty, state.end == nil, !state.isHeartbeatDue else { return true }
            state.receiver = continuation
            return false
          }
          if isReady { continuation.resume() }
        }
      }
    } onCancel: {
      close()
    }
  }

  /// Takes what is to be sent: the end of the stream before events, and events before a heartbeat. `nil`: nothing.
  private func dequeue(at now: Instant) -> Delivery? {
    state.withLock { state in
      if let end = state.end { return end }
      if !state.buffered.isEmpty {
        defer { state.buffered = [] }
        state.lastDelivery = now
        state.isHeartbeatDue = false
        return .events(state.buffered, state.mark)
      }
      guard state.isHeartbeatDue else { return nil }
      state.isHeartbeatDue = false
      return .heartbeat(upTo: state.upTo, state.mark)
    }
  }
}
