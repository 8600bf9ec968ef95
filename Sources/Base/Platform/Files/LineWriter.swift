internal import Glibc
internal import Synchronization

/// Writes lines to a descriptor whose reader may stop reading, such as the standard error.
///
/// A line is written at once where that does not block, so that a crash loses none. Otherwise it and the later ones wait for
/// a thread that writes them, within a limit; further ones are dropped and counted. So no caller waits for the reader.
package final class LineWriter: Sendable {
  private struct State {
    /// The lines that wait.
    var waiting: [UInt8] = []
    /// Whether a thread writes, which all lines have to wait for.
    var hasThread = false
    var dropped = 0
    /// The lines that were dropped so far, or that the descriptor did not accept.
    var lost = 0
  }

  /// In milliseconds.
  private static let flushTime: CInt = 1_000

  private let descriptor: CInt
  private let maxBytes: Int
  private let reportDropped: @Sendable (Int) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - descriptor: is never closed.
  ///   - maxBytes: the maximum size of the lines that wait.
  ///   - reportDropped: receives the number of lines that were dropped, once the reader has read those that waited.
  package init(
    _ descriptor: CInt, maxBytes: Int = 1 << 20, reportDropped: @escaping @Sendable (Int) -> Void
  ) {
    self.descriptor = descriptor
    self.maxBytes = maxBytes
    self.reportDropped = reportDropped
  }

  /// The number of lines that were dropped or could not be written so far.
  package var lostLines: Int { state.withLock { $0.lost } }

  /// Writes a line with its newline.
  package func write(_ line: String) {
    var line = line
    let needsThread = line.withUTF8 { bytes in state.withLock { write(bytes, &$0) } }
    if needsThread { startThread() }
  }

  /// Waits until the lines that wait are written, at most a second.
  package func flush() {
    var time: CInt = 0
    while time < Self.flushTime, state.withLock({ $0.hasThread }) {
      usleep(10_000)
      time += 10
    }
  }

  /// Returns whether a thread has to be started.
  private func write(_ bytes: UnsafeBufferPointer<UInt8>, _ state: inout State) -> Bool {
    var rest = bytes[...]
    // A pipe that is ready takes this much at once (POSIX, `write`).
    if !state.hasThread, bytes.count <= PIPE_BUF, isReady(within: 0) {
      let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      if count < 0, !Self.mayContinue {
        state.lost += 1
        return false
      }
      rest = rest.dropFirst(max(count, 0))
    }
    guard !rest.isEmpty else { return false }
    guard state.waiting.count + rest.count <= maxBytes else {
      state.dropped += 1
      state.lost += 1
      return false
    }
    state.waiting += rest
    defer { state.hasThread = true }
    return !state.hasThread
  }

  private func startThread() {
    guard startBackgroundThread({ self.writeWaiting() }) != nil else { return }
    // The next line starts one.
    state.withLock { $0.hasThread = false }
  }

  /// Writes all that waits, however long the reader of the descriptor takes; a failure loses the lines of a part,
  /// which are counted.
  private func writeWaiting() {
    while let part = takeWaiting() {
      part.withUnsafeBufferPointer { bytes in
        var rest = bytes[...]
        while !rest.isEmpty, isReady(within: -1) {
          let some = UnsafeBufferPointer(rebasing: rest)
          let count = Glibc.write(descriptor, some.baseAddress, some.count)
          if count < 0, !Self.mayContinue {
            let lines = rest.count { $0 == UInt8(ascii: "\n") }
            return state.withLock { $0.lost += lines }
          }
          rest = rest.dropFirst(max(count, 0))
        }
      }
    }
    let dropped = state.withLock { state in
      defer { state.dropped = 0 }
      return state.dropped
    }
    if dropped > 0 { reportDropped(dropped) }
  }

  /// Takes the lines that wait; `nil` ends the thread.
  private func takeWaiting() -> [UInt8]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.hasThread = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Whether a write would not block, or would fail.
  private func isReady(within milliseconds: CInt) -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    var result = poll(&ready, 1, milliseconds)
    while result < 0, errno == EINTR { result = poll(&ready, 1, milliseconds) }
    return result > 0
  }

  /// Whether the last write failed for a moment only.
  private static var mayContinue: Bool { errno == EINTR || errno == EAGAIN }
}
