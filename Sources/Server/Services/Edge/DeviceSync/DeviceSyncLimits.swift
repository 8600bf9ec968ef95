internal import AppStore
internal import Entitlements
internal import Store
internal import Synchronization

/// Counts the installations of each purchase and the requests of each app install, in memory: a restart sets the
/// counts to zero.
///
/// Only documents that Apple signed add entries, so strangers cannot fill the memory.
final class DeviceSyncLimits: Sendable {
  /// The requests of one app install and hour, for each allowed installation: a token lasts a quarter of an hour.
  private static let requestsPerInstallation = 12
  /// The number of purchases and of app installs that are counted.
  private static let maxEntries = 1_000_000
  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 24 * hour

  private struct State {
    var hour: Int64 = 0
    var requests: [LineKey: Int] = [:]
    var day: Int64 = 0
    /// The first eight bytes of each installation.
    var installations: [LineKey: Set<UInt64>] = [:]
  }

  private let state = Mutex(State())

  /// Counts a request of an app install.
  ///
  /// - Returns: `nil` if it is within the limit; otherwise the milliseconds until the next hour.
  func delay(ofRequestOf install: LineKey, _ policy: DeviceSyncPolicy, at now: Instant) -> Int64? {
    let time = now.millisecondsSince1970
    return state.withLock { state in
      if state.hour != time / Self.hour || state.requests.count >= Self.maxEntries {
        state.hour = time / Self.hour
        state.requests = [:]
      }
      let count = state.requests[install, default: 0]
      guard count < policy.maxInstallations * Self.requestsPerInstallation else {
        return Self.hour - time % Self.hour
      }
      state.requests[install] = count + 1
      return nil
    }
  }

  /// Counts an installation of purchases, today in UTC.
  ///
  /// - Returns: the purchases that have as many other installations as allowed, for which it was not counted.
  func excess(
    ofInstallation installation: [UInt8], of lines: [LineKey], _ policy: DeviceSyncPolicy, at now: Instant
  ) -> [LineKey] {
    let today = now.millisecondsSince1970 / Self.day
    let id = installation.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    return state.withLock { state in
      if state.day != today || state.installations.count >= Self.maxEntries {
        state.day = today
        state.installations = [:]
      }
      let excess = lines.filter { line in
        let known = state.installations[line] ?? []
        return known.count >= policy.maxInstallations && !known.contains(id)
      }
      for line in lines where !excess.contains(line) { state.installations[line, default: []].insert(id) }
      return excess
    }
  }
}
