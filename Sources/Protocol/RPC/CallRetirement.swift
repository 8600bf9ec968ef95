internal import Synchronization

/// Announces to the handler of a stream that its connection is to end: the client was asked to open another one.
///
/// Calls that end by themselves continue for a grace period. A stream without one ends with a status that
/// describes how the caller continues.
package final class CallRetirement: Sendable {
  private struct State {
    var hasBegun = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  package init() {}

  package var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Calls `action` once when the connection is to end, at once if it already is. Replaces an earlier action.
  package func onBegin(_ action: @escaping @Sendable () -> Void) {
    let hasBegun = state.withLock { state in
      if !state.hasBegun { state.action = action }
      return state.hasBegun
    }
    if hasBegun { action() }
  }

  /// Begins the retirement once, and calls the action of ``onBegin(_:)`` if there is one; later calls have no effect.
  package func begin() {
    let action = state.withLock { state in
      defer { state.action = nil }
      state.hasBegun = true
      return state.action
    }
    action?()
  }
}
