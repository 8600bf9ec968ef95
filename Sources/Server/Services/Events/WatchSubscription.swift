internal import AppStore
internal import Store
internal import Synchronization

/// The buffer of events for one watcher.
final class WatchSubscription: Sendable {
  /// The next message for the watcher.
  enum Delivery {
    case events([StoredEvent])
    /// No event for the heartbeat interval; all events up to this sequence are delivered.
    case heartbeat(upTo: Int64)
    /// The buffer overflowed; the watcher must resume after the last delivered event.
    case fellBehind
    /// The subscription has ended.
    case closed
  }

  private struct State {
    var waiting: [StoredEvent] = []
    var end: Delivery?
    var upTo: Int64
    var lastDelivery: Instant
    var isBeatDue = false
    var receiver: CheckedContinuation<Void, Never>?
  }

  private let filter: EventFilter
  private let start: Int64
  private let heartbeat: Int64
  private let capacity: Int
  private let state: Mutex<State>

  /// A subscription after `sequence` that buffers at most `capacity` events, with a heartbeat after that many
  /// milliseconds without an event.
  init(_ filter: EventFilter, after sequence: Int64, heartbeat: Int64, capacity: Int, now: Instant) {
    self.filter = filter
    start = sequence
    self.heartbeat = heartbeat
    self.capacity = capacity
    state = Mutex(State(upTo: sequence, lastDelivery: now))
  }

  /// Buffers the events that pass the filter. Does not wake the receiver; see ``wake()``.
  func offer(_ events: ArraySlice<StoredEvent>, upTo sequence: Int64) {
    let wanted = events.filter { $0.sequence > start && filter.passes($0.event) }
    state.withLock { state in
      guard state.end == nil else { return }
      state.upTo = max(state.upTo, sequence)
      state.waiting += wanted
      if state.waiting.count > capacity {
        state.waiting = []
        state.end = .fellBehind
      }
    }
  }

  /// Wakes the receiver if a delivery is ready.
  func wake() {
    let receiver = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty || state.end != nil || state.isBeatDue else { return nil }
      defer { state.receiver = nil }
      return state.receiver
    }
    receiver?.resume()
  }

  /// Makes a heartbeat due if no event was delivered for the heartbeat interval.
  func beat(_ now: Instant, _ sequence: Int64) {
    state.withLock { state in
      let silence = now.millisecondsSince1970 - state.lastDelivery.millisecondsSince1970
      guard silence >= heartbeat, state.receiver != nil else { return }
      state.isBeatDue = true
      state.lastDelivery = now
    }
    wake()
  }

  /// Ends the subscription.
  func close() {
    state.withLock { $0.end = .closed }
    wake()
  }

  /// Waits for the next delivery. Returns ``Delivery/closed`` if the task is cancelled.
  func next(_ now: @Sendable () -> Instant) async -> Delivery {
    await withTaskCancellationHandler {
      while true {
        if let delivery = take(now()) { return delivery }
        await withCheckedContinuation { continuation in
          let isReady = state.withLock { state in
            guard state.waiting.isEmpty, state.end == nil, !state.isBeatDue else { return true }
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

  private func take(_ now: Instant) -> Delivery? {
    state.withLock { state in
      if let end = state.end { return end }
      if !state.waiting.isEmpty {
        defer { state.waiting = [] }
        state.lastDelivery = now
        state.isBeatDue = false
        return .events(state.waiting)
      }
      guard state.isBeatDue else { return nil }
      state.isBeatDue = false
      return .heartbeat(upTo: state.upTo)
    }
  }
}
