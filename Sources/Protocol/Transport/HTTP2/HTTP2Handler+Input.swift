internal import HTTP2
internal import NIOCore

// Reads input in parts, so that one connection does not occupy the loop.
extension HTTP2Handler: DelayedConnection {
  /// Reads input: a few requests at a time, which are answered or begun before the next are read. After much work for little
  /// input the rest waits, and after a millisecond or many requests it waits until the other connections had their turn.
  func read(_ buffer: ByteBuffer) {
    var rest = buffer
    let start = NIODeadline.now()
    let turn = ReadingTurn(start: start, startedTasks: startedTasks)
    let begin = session.controlFrames
    while rest.readableBytes > 0 {
      let part: ReceivedPart
      do throws(HTTP2Error) {
        part = try receive(rest, maxControlFrames: begin + Self.controlFramesAtOnce - session.controlFrames)
      } catch {
        return fail(error)
      }
      rest.moveReaderIndex(forwardBy: part.count)
      handleEvents()
      checkBacklog()
      reportManyIncomplete()
      guard !isEnding, !isClosing, context != nil else { return }
      let costs = session.controlFrames - begin
      if part.isCostly || costs >= Self.controlFramesAtOnce || session.work >= Self.workAtOnce {
        delay(rest)
        host.delayedInput.readLater(self, after: costlyTime + (NIODeadline.now() - start))
        session.resetWork()
        return costlyTime = .zero
      }
      if rest.readableBytes > 0, turn.hasEnded(at: .now(), startedTasks: startedTasks) {
        delay(rest)
        host.readNext(self)
        break
      }
    }
    if session.work > 0 { costlyTime = costlyTime + (NIODeadline.now() - start) }
  }

  private func receive(
    _ buffer: ByteBuffer, maxControlFrames: Int
  ) throws(HTTP2Error) -> ReceivedPart {
    let result = buffer.withUnsafeReadableBytes { bytes in
      Result { () throws(HTTP2Error) in try session.receive(bytes, maxControlFrames: maxControlFrames) }
    }
    return try result.get()
  }

  /// Lets the rest of the input wait, also what is still in the socket, so that input that costs much does not occupy the
  /// loop: a read of 64 KiB may contain thousands of streams that are opened and reset (CVE-2023-44487), and many reads the
  /// bodies of refused requests.
  private func delay(_ rest: ByteBuffer) {
    isDelayed = true
    delayedInput = rest
    updateReading()
  }

  func readDelayed() {
    guard !isClosing, !isEnding, context != nil else { return }
    let input = delayedInput
    delayedInput = ByteBuffer()
    isDelayed = false
    read(input)
    updateReading()
    scheduleFlush()
  }

  /// Unless it waits again, it reads on from the socket.
  var unmeasuredTime: TimeAmount { isDelayed ? .zero : .microseconds(50) }

  /// Backpressure: stops reading from a peer that reads no responses, so that requests do not accumulate, and from one
  /// whose input waits or is not worth reading any more.
  func updateReading() {
    let pauses = !isWritable || isEnding || isDelayed
    guard pauses != hasPausedReads, pauses || !isClosing, let channel = context?.channel else { return }
    hasPausedReads = pauses
    try? channel.syncOptions?.setOption(.autoRead, value: !pauses)
  }

  /// The cost in ``Session/controlFrames`` after which a connection waits.
  private static let controlFramesAtOnce = 128
  /// The ``Session/work`` after which a connection waits.
  private static let workAtOnce = 128 * 1_024
}
