internal import Synchronization

/// The result of a unary call that waits for a network without a task, because a task costs more than most answers.
package final class PendingResult: Sendable {
  package typealias Receiver = @Sendable (UnaryResult) -> Void

  private enum State {
    case empty
    case awaited(Receiver)
    case arrived(UnaryResult)
  }

  private let state = Mutex(State.empty)

  package init() {}

  /// Delivers the result, once, on any thread.
  package func complete(_ result: UnaryResult) {
    let receiver = state.withLock { state -> Receiver? in
      defer { state = .arrived(result) }
      if case .awaited(let receiver) = state { return receiver }
      return nil
    }
    receiver?(result)
  }

  /// Calls `receiver` with the result: at once, or on the thread that delivers it, which it must not block. There is one
  /// receiver.
  package func whenComplete(_ receiver: @escaping Receiver) {
    let arrived = state.withLock { state -> UnaryResult? in
      if case .arrived(let result) = state { return result }
      state = .awaited(receiver)
      return nil
    }
    if let arrived { receiver(arrived) }
  }
}

extension UnaryResult {
  /// Waits for the response; runs the rest of the call if it is to be run as a task.
  ///
  /// - Throws: the status of a failed call.
  package func awaitReply() async throws(Status) -> Reply {
    switch self {
    case .reply(let reply): return reply
    case .failure(let status): throw status
    case .async(let work): return try await work()
    case .later(let pending):
      let result = await withCheckedContinuation { continuation in
        pending.whenComplete { continuation.resume(returning: $0) }
      }
      return try await result.awaitReply()
    }
  }
}
