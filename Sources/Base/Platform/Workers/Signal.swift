internal import Synchronization

/// Wakes any number of listeners. A stream ends with the task that iterates over it, so each run of a worker listens
/// again.
package final class Signal: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  package init() {}

  /// Returns a stream with one element for each later ``send()``; those during the processing of an element add one
  /// together.
  package func listen() -> AsyncStream<Void> {
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

  /// Emits an element to each listener that has none waiting.
  package func send() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// Finishes all streams.
  package func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
