internal import Synchronization

/// What passes between a streaming call's event loop and the task at its other side: messages one way,
/// leave to go on the other.
///
/// It holds only about so much: then ``fill(from:encoding:limit:areLast:)`` leaves the rest where it is until the
/// task has taken half. One task reads and sends; it need not be the same task for both.
package final class MessageMailbox: Sendable {
  private struct State {
    /// What was delivered and not yet taken: the newest at the end, behind what is in `oldest`.
    var newest: [ReceivedMessage] = []
    /// The messages that are next, the very next one at the end, so that taking one moves none.
    var oldest: [ReceivedMessage] = []
    var waitingBytes = 0
    /// The loop left messages where they are, for lack of room.
    var isPaused = false
    var hasFinished = false
    var failure: Status?
    var reader: CheckedContinuation<Result<ReceivedMessage?, Status>, Never>?
    var sender: CheckedContinuation<Result<Void, Status>, Never>?
  }

  private let state = Mutex(State())
  private let backlogBytes: Int

  /// A mailbox in which about `backlogBytes` may wait to be taken.
  package init(backlogBytes: Int) { self.backlogBytes = backlogBytes }

  // MARK: The loop's side

  /// Delivers the whole messages at the start of `bytes`, until there is no room; if they are the last ones,
  /// all of them.
  ///
  /// - Returns: how many bytes were used, and whether all whole messages are delivered. If they are not, the
  ///   task's side is told to have more brought when there is room.
  package func fill(
    from bytes: UnsafeRawBufferPointer, encoding: MessageEncoding, limit: Int, areLast: Bool = false
  ) throws(FramingError) -> (used: Int, isComplete: Bool) {
    var used = 0
    while true {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
      guard let frame = try MessageFrame(prefixOf: rest, limit: limit), rest.count >= frame.totalLength
      else { return (used, true) }
      guard areLast || hasRoomOrPauses() else { return (used, false) }
      try frame.withMessage(in: rest, encoding: encoding, limit: limit) {
        deliver(ReceivedMessage(Array($0), wasCompressed: frame.isCompressed))
      }
      used += frame.totalLength
    }
  }

  private func hasRoomOrPauses() -> Bool {
    state.withLock { state in
      state.isPaused = state.waitingBytes >= backlogBytes
      return !state.isPaused
    }
  }

  private func deliver(_ message: ReceivedMessage) {
    let reader = state.withLock { state in
      if let reader = state.reader {
        state.reader = nil
        return reader as CheckedContinuation<Result<ReceivedMessage?, Status>, Never>?
      }
      state.newest.append(message)
      state.waitingBytes += Self.cost(of: message)
      return nil
    }
    reader?.resume(returning: .success(message))
  }

  /// The peer will send no more.
  package func finish() {
    let reader = state.withLock { state in
      state.hasFinished = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: .success(nil))
  }

  /// The call is over: whoever waits is told, and whoever comes later. What was delivered can still be taken.
  package func fail(_ status: Status) {
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

  /// Whoever waits to send may go on.
  package func resumeSender() {
    let sender = state.withLock { state in
      defer { state.sender = nil }
      return state.sender
    }
    sender?.resume(returning: .success(()))
  }

  // MARK: The task's side

  /// The next message, or `nil` when there will be no more; waits until there is one. Calls `refill` if the
  /// loop is to bring more.
  package func next(refill: () -> Void) async throws(Status) -> ReceivedMessage? {
    let result: Result<ReceivedMessage?, Status> = await withCheckedContinuation { continuation in
      let (ready, wantsMore) = state.withLock { state in
        let ready = take(from: &state)
        if ready == nil { state.reader = continuation }
        let wantsMore = state.isPaused && state.waitingBytes <= backlogBytes / 2
        if wantsMore { state.isPaused = false }
        return (ready, wantsMore)
      }
      if wantsMore { refill() }
      if let ready { continuation.resume(returning: ready) }
    }
    return try result.get()
  }

  /// What there is to say at once; `nil` if it must be waited for.
  private func take(from state: inout State) -> Result<ReceivedMessage?, Status>? {
    if state.oldest.isEmpty {
      state.oldest = state.newest.reversed()
      state.newest.removeAll()
    }
    if let message = state.oldest.popLast() {
      state.waitingBytes -= Self.cost(of: message)
      return .success(message)
    }
    if let failure = state.failure { return .failure(failure) }
    return state.hasFinished ? .success(nil) : nil
  }

  /// Starts to send and waits until `resume` is called or the call is over.
  package func sending(_ start: (_ resume: @escaping @Sendable () -> Void) -> Void) async throws(Status) {
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

  /// An empty message takes memory, too.
  private static func cost(of message: ReceivedMessage) -> Int { message.bytes.count + 64 }
}
