internal import Synchronization

/// The bounded queue between the event loop of a streaming call and the task of its handler.
///
/// When it is full, ``fill(from:encoding:limit:areLast:)`` stops until the task has removed half of it. One
/// task reads and one task sends; they may be the same.
package final class MessageMailbox: Sendable {
  /// A message as it arrived. The task decompresses it, because that may take milliseconds.
  private struct Delivered {
    let bytes: [UInt8]
    /// The maximum size of a compressed message; `nil` for another one.
    let inflatedLimit: Int?

    /// Counts an overhead, because empty messages need memory too.
    var cost: Int { bytes.count + 64 }

    func message() throws(FramingError) -> ReceivedMessage {
      guard let inflatedLimit else { return ReceivedMessage(bytes) }
      let message = try bytes.withUnsafeBufferPointer { bytes throws(FramingError) in
        try MessageFrame.inflated(UnsafeRawBufferPointer(bytes), limit: inflatedLimit)
      }
      return ReceivedMessage(message, wasCompressed: true)
    }
  }

  private struct State {
    /// Delivered messages that follow those in `oldest`, in order of arrival.
    var newest: [Delivered] = []
    /// The next messages in reverse order, so that removing one moves none.
    var oldest: [Delivered] = []
    var waitingBytes = 0
    /// Whether the loop stopped because the mailbox was full.
    var isPaused = false
    var hasFinished = false
    var failure: Status?
    var reader: CheckedContinuation<Result<Delivered?, Status>, Never>?
    var sender: CheckedContinuation<Result<Void, Status>, Never>?
  }

  private let state = Mutex(State())
  private let backlogBytes: Int

  /// - Parameter backlogBytes: the approximate capacity.
  package init(backlogBytes: Int) { self.backlogBytes = backlogBytes }

  // MARK: Event loop

  /// Delivers the complete messages at the start of `bytes` until the mailbox is full; all of them if
  /// `areLast`.
  ///
  /// - Returns: the number of bytes used, and whether all complete messages were delivered. If not, the task
  ///   calls its `refill` once there is room.
  /// - Throws: ``FramingError`` for a malformed prefix, a message over `limit` bytes, or a compressed one without an
  ///   encoding. What was delivered before stays delivered.
  package func fill(
    from bytes: UnsafeRawBufferPointer, encoding: MessageEncoding, limit: Int, areLast: Bool = false
  ) throws(FramingError) -> (used: Int, isComplete: Bool) {
    var used = 0
    while true {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
      guard let frame = try MessageFrame(prefixOf: rest, limit: limit), rest.count >= frame.totalLength
      else { return (used, true) }
      guard areLast || hasRoomOrPauses() else { return (used, false) }
      guard !frame.isCompressed || encoding == .gzip else { throw .compressedWithoutEncoding }
      deliver(
        Delivered(bytes: Array(frame.body(in: rest)), inflatedLimit: frame.isCompressed ? limit : nil))
      used += frame.totalLength
    }
  }

  private func hasRoomOrPauses() -> Bool {
    state.withLock { state in
      state.isPaused = state.waitingBytes >= backlogBytes
      return !state.isPaused
    }
  }

  private func deliver(_ message: Delivered) {
    let reader = state.withLock { state in
      if let reader = state.reader {
        state.reader = nil
        return reader as CheckedContinuation<Result<Delivered?, Status>, Never>?
      }
      state.newest.append(message)
      state.waitingBytes += message.cost
      return nil
    }
    reader?.resume(returning: .success(message))
  }

  /// Marks the end of the request.
  package func finish() {
    let reader = state.withLock { state in
      state.hasFinished = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: .success(nil))
  }

  /// Ends the call: present and later waits fail with the status. Delivered messages can still be read.
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

  /// Resumes the sending task.
  package func resumeSender() {
    let sender = state.withLock { state in
      defer { state.sender = nil }
      return state.sender
    }
    sender?.resume(returning: .success(()))
  }

  // MARK: Task

  /// Waits for the next message; `nil` after the last one. Calls `refill` when there is room for more.
  ///
  /// - Throws: the status with which the call ended, or that of a message that cannot be decompressed.
  package func next(refill: () -> Void) async throws(Status) -> ReceivedMessage? {
    let result: Result<Delivered?, Status> = await withCheckedContinuation { continuation in
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
    guard let found = try result.get() else { return nil }
    do throws(FramingError) { return try found.message() } catch { throw Status(error) }
  }

  /// The next result; `nil` if the task has to wait.
  private func take(from state: inout State) -> Result<Delivered?, Status>? {
    if state.oldest.isEmpty {
      state.oldest = state.newest.reversed()
      state.newest.removeAll()
    }
    if let message = state.oldest.popLast() {
      state.waitingBytes -= message.cost
      return .success(message)
    }
    if let failure = state.failure { return .failure(failure) }
    return state.hasFinished ? .success(nil) : nil
  }

  /// Starts to send, and waits until `resume` is called or the call ends.
  ///
  /// - Throws: the status with which the call ended; `start` is not called if it had ended before.
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
}
