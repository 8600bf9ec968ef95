package import AppStore
internal import Store
internal import Synchronization

/// The usual interval between the notifications of each app and environment, by which a delivery gap differs from a
/// quiet hour.
///
/// ``NotificationInbox`` records arrivals here; notifications from Apple's history do not count, because a repair
/// fetches them in bursts. ``AppReconciler`` stores the statistics with the watermark and restores them after a
/// restart.
package final class DeliveryCadence: Sendable {
  /// The moving average of the intervals between the deliveries of one app in one environment.
  struct ArrivalStatistics: Hashable, Sendable {
    /// The number of intervals from which an average is used.
    private static let minCount = 5

    /// The time of the last delivery.
    private(set) var last: Instant
    /// Milliseconds.
    private var average: Int64
    private var count: Int

    /// Restores stored statistics; `typicalInterval` is in milliseconds.
    init(last: Instant, typicalInterval: Int64? = nil) {
      self.last = last
      average = typicalInterval ?? 0
      count = typicalInterval == nil ? 0 : Self.minCount
    }

    /// The usual milliseconds between two deliveries; `nil` until there are enough.
    var typicalInterval: Int64? { count < Self.minCount ? nil : average }

    /// Adds an arrival. One with an earlier time than the last counts as an interval of 0.
    mutating func recordArrival(at instant: Instant) {
      let interval = max(0, instant.milliseconds(since: last))
      last = max(last, instant)
      // An exponential moving average: older intervals count less.
      average = count == 0 ? interval : (average * 4 + interval) / 5
      count = min(count + 1, Self.minCount)
    }

    /// Moves a last delivery of a clock that was ahead to `now`.
    fileprivate mutating func limit(to now: Instant) { last = min(last, now) }
  }

  private let arrivals = Mutex<[AppEnvironment: ArrivalStatistics]>([:])

  /// Starts without statistics: until five intervals are known, no pause counts as a gap.
  package init() {}

  /// Records the arrival of a notification. The first one of an app and environment only sets the time from which the
  /// next interval counts.
  package func recordArrival(_ target: AppEnvironment, at instant: Instant) {
    arrivals.withLock { arrivals in
      if arrivals[target] == nil {
        arrivals[target] = ArrivalStatistics(last: instant)
      } else {
        arrivals[target]?.recordArrival(at: instant)
      }
    }
  }

  /// Returns the statistics; `nil` before the first arrival.
  func statistics(_ target: AppEnvironment) -> ArrivalStatistics? { arrivals.withLock { $0[target] } }

  /// Limits the time of the last delivery to `now`, because a clock that was ahead and is set back would hide gaps.
  func limit(_ target: AppEnvironment, to now: Instant) {
    arrivals.withLock { _ = $0[target]?.limit(to: now) }
  }

  /// Restores stored statistics, unless a later notification has arrived. They may be of another process that led since
  /// this one did.
  func restore(_ stored: ArrivalStatistics, of target: AppEnvironment) {
    arrivals.withLock { arrivals in
      guard arrivals[target].map({ $0.last < stored.last }) ?? true else { return }
      arrivals[target] = stored
    }
  }
}
