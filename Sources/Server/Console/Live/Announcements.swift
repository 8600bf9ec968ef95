internal import HTTP
internal import RPC
internal import Synchronization

/// The announcements that one live page has not received yet, as server-sent events. Newer numbers replace older
/// ones, so a page that reads slowly costs nothing.
final class Announcements: Sendable {
  private struct State {
    var sequence: Int64?
    var isPulseDue = false
    /// Whether the page should not connect again; `nil` before the end.
    var isFinal: Bool?
  }

  private let state = Mutex(State())
  private let (wakeups, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let (starts, start) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingOldest(1))

  /// The stream of events has begun.
  func begin() { start.yield(.ok) }

  /// Announces the event with this sequence.
  func announce(_ sequence: Int64) {
    state.withLock { $0.sequence = max(sequence, $0.sequence ?? 0) }
    wake.yield()
  }

  /// Sends a sign of life, which shows whether the page is still there.
  func pulse() {
    state.withLock { $0.isPulseDue = true }
    wake.yield()
  }

  /// Ends the announcements. The browser connects again, unless the end is final.
  func end(_ status: Status, isFinal: Bool) {
    state.withLock { $0.isFinal = $0.isFinal ?? isFinal }
    start.yield(status)
    wake.yield()
  }

  /// Waits until the stream of events has begun.
  ///
  /// - Throws: the status with which it ended instead.
  func accepted() async throws(Status) {
    for await status in starts {
      guard status.code == .ok else { throw status }
      return
    }
    throw Status(.cancelled, "the browser has gone")
  }

  /// Sends announcements until they end, the browser has gone, or the task is cancelled.
  func send(to page: @escaping HTTPBodyStream.Send) async {
    guard await page(Array("retry: \(Self.retry)\n\n".utf8)) else { return }
    for await _ in wakeups {
      let (text, isLast) = next()
      if !text.isEmpty, !(await page(Array(text.utf8))) { return }
      if isLast { return }
    }
  }

  /// The milliseconds after which a browser connects again.
  private static let retry = 2_000

  /// The announcements since the last call, and whether there will be no more.
  private func next() -> (text: String, isLast: Bool) {
    state.withLock { state in
      var text = state.isPulseDue ? ":\n\n" : ""
      if let sequence = state.sequence { text += "id: \(sequence)\nevent: change\ndata: \(sequence)\n\n" }
      if state.isFinal == true { text += "event: end\ndata: end\n\n" }
      state.sequence = nil
      state.isPulseDue = false
      return (text, state.isFinal != nil)
    }
  }
}
