internal import Synchronization

/// Tells any number of listeners that something was committed.
final class CommitNotifier: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Hears of every commit from now on, of those that come while it is busy once.
  func listen() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.last += 1
      state.listeners[state.last] = continuation
      return state.last
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [self] _ in
      state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }
    return stream
  }

  func send() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// There will be no more.
  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
