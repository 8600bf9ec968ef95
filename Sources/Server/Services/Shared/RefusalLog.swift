package import Logging
internal import RPC
internal import Synchronization

/// Logs refused requests with the address of their sender and the reason.
///
/// The sender may be a stranger, so a line has nothing of the request, and there is at most one line a second for each
/// reason: a flood cannot fill the log. A line has the number of requests without a line since the one before.
package final class RefusalLog: Sendable {
  private struct LastLine {
    let ticks: Int64
    var leftOut = 0
  }

  /// In nanoseconds.
  private static let interval: Int64 = 1_000_000_000

  private let ticks: @Sendable () -> Int64
  private let logger: Logger
  private let lastLines = Mutex<[String: LastLine]>([:])

  /// `ticks` returns nanoseconds of a monotonic clock.
  package init(ticks: @escaping @Sendable () -> Int64, logger: Logger) {
    self.ticks = ticks
    self.logger = logger
  }

  /// Records a call that failed with `status`.
  func record(_ status: Status, of method: String, from address: String) {
    record(status.reason ?? status.code.name, of: method, from: address)
  }

  /// Records a request. `reason` is one of the program's codes, because each of them takes memory. `app` is that of
  /// the request, if it is configured.
  func record(_ reason: String, of method: String, app: String = "", from address: String) {
    guard let leftOut = countLeftOut(reason) else { return }
    var metadata: Logger.Metadata = [
      "method": .string(method), "address": .string(address), "reason": .string(reason),
    ]
    if !app.isEmpty { metadata["app"] = .string(app) }
    if leftOut > 0 { metadata["left_out"] = .stringConvertible(leftOut) }
    logger.warning("request refused", metadata: metadata)
  }

  /// Returns the number of requests without a line since the last one of this reason; `nil` if it is too early for a
  /// line.
  private func countLeftOut(_ reason: String) -> Int? {
    let now = ticks()
    return lastLines.withLock { lines in
      if let last = lines[reason], now - last.ticks < Self.interval {
        lines[reason]?.leftOut += 1
        return nil
      }
      return lines.updateValue(LastLine(ticks: now), forKey: reason)?.leftOut ?? 0
    }
  }
}
