internal import RPC
internal import Synchronization

/// What passes between a streaming call's event loop and its handler's task: messages one way, leave
/// to go on the other.
///
/// One task reads and sends; it need not be the same task for both.
final class MessageMailbox: Sendable {
  private struct State {
    var messages: [[UInt8]] = []
    var waitingBytes = 0
    var hasFinished = false
    var failure: Status?
    var reader: CheckedContinuation<Result<[UInt8]?, Status>, Never>?
    var sender: CheckedContinuation<Result<Void, Status>, Never>?
  }

  private let state = Mutex(State())
  private let backlogBytes: Int

  init(backlogBytes: Int) { self.backlogBytes = backlogBytes }

  /// Whether the handler has taken enough for the caller to send more.
  var hasRoom: Bool { state.withLock { $0.waitingBytes < backlogBytes } }

  // MARK: The loop's side

  func deliver(_ message: [UInt8]) {
    let reader = state.withLock { state in
      if let reader = state.reader {
        state.reader = nil
        return reader as CheckedContinuation<Result<[UInt8]?, Status>, Never>?
      }
      state.messages.append(message)
      state.waitingBytes += message.count
      return nil
    }
    reader?.resume(returning: .success(message))
  }

  /// The caller will send no more.
  func finish() {
    let reader = state.withLock { state in
      state.hasFinished = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: .success(nil))
  }

  /// The call is over: whoever waits is told, and whoever comes later.
  func fail(_ status: Status) {
    let (reader, sender) = state.withLock { state in
      state.failure = state.failure ?? status
      defer {
        state.reader = nil
        state.sender = nil
      }
      return (state.reader, state.sender)
    }
    reader?.resume(returning: .failure(status))
    sender?.resume(returning: .failure(status))
  }

  func resumeSender() {
    let sender = state.withLock { state in
      defer { state.sender = nil }
      return state.sender
    }
    sender?.resume(returning: .success(()))
  }

  // MARK: The handler's side

  func next() async throws(Status) -> [UInt8]? {
    let result: Result<[UInt8]?, Status> = await withCheckedContinuation { continuation in
      let ready: Result<[UInt8]?, Status>? = state.withLock { state in
        if !state.messages.isEmpty {
          let message = state.messages.removeFirst()
          state.waitingBytes -= message.count
          return .success(message)
        }
        if let failure = state.failure { return .failure(failure) }
        if state.hasFinished { return .success(nil) }
        state.reader = continuation
        return nil
      }
      if let ready { continuation.resume(returning: ready) }
    }
    return try result.get()
  }

  /// Starts to send and waits until `resume` is called or the call is over.
  func sending(_ start: (_ resume: @escaping @Sendable () -> Void) -> Void) async throws(Status) {
    let result: Result<Void, Status> = await withCheckedContinuation { continuation in
      let failure = state.withLock { state in
        if state.failure == nil { state.sender = continuation }
        return state.failure
      }
      if let failure { return continuation.resume(returning: .failure(failure)) }
      start { [self] in resumeSender() }
    }
    try result.get()
  }
}
