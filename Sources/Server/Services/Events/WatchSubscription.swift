internal import AppStore
internal import Store
internal import Synchronization

/// What waits to be sent to one watcher.
final class WatchSubscription: Sendable {
  /// What there is for the watcher.
  enum Delivery {
    case events([StoredEvent])
    /// Nothing, for long; all up to this number was delivered.
    case heartbeat(upTo: Int64)
    /// More came than could wait: resume behind what was delivered.
    case fellBehind
    /// There will be no more.
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

  /// A watcher that has everything up to `sequence`; at most `capacity` events wait, and a heartbeat comes
  /// after so many milliseconds without an event.
  init(_ filter: EventFilter, after sequence: Int64, heartbeat: Int64, capacity: Int, now: Instant) {
    self.filter = filter
    start = sequence
    self.heartbeat = heartbeat
    self.capacity = capacity
    state = Mutex(State(upTo: sequence, lastDelivery: now))
  }

  /// Adds what passes the filter. Whoever waits is not woken yet: see ``wake()``.
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

  /// Wakes the receiver if there is something for it.
  func wake() {
    let receiver = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty || state.end != nil || state.isBeatDue else { return nil }
      defer { state.receiver = nil }
      return state.receiver
    }
    receiver?.resume()
  }

  /// The time is `now`, and the last event of all has this number.
  func beat(_ now: Instant, _ sequence: Int64) {
    state.withLock { state in
      let silence = now.millisecondsSince1970 - state.lastDelivery.millisecondsSince1970
      guard silence >= heartbeat, state.receiver != nil else { return }
      state.isBeatDue = true
      state.lastDelivery = now
    }
    wake()
  }

  /// There will be no more.
  func close() {
    state.withLock { $0.end = .closed }
    wake()
  }

  /// Waits for something to send. A task that was cancelled gets ``Delivery/closed``.
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
