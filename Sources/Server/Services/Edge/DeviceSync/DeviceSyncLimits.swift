internal import AppStore
internal import Entitlements
internal import Store
internal import Synchronization

/// Counts the requests of each app install, in memory: a restart sets the counts to zero. The installations,
/// which sharing is limited by, are counted in the store.
///
/// Only documents that Apple signed add entries, so unauthenticated peers cannot fill the memory.
final class DeviceSyncLimits: Sendable {
  /// The requests of one app install and hour, for each allowed installation: a token lasts a quarter of an hour.
  private static let requestsPerInstallation = 12
  /// The number of app installs that are counted.
  private static let maxEntries = 1_000_000
  private static let hour: Int64 = 3_600_000

  private struct State {
    var hour: Int64 = 0
    var requests: [LineKey: Int] = [:]
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
}
