package import AppStore
package import Store
internal import Synchronization

/// At what distances notifications usually arrive, for each app and environment: what tells a deliveryGap from a
/// quiet hour.
package final class DeliveryCadence: Sendable {
  /// What was heard at one place.
  struct ArrivalStatistics: Hashable, Sendable {
    /// So many distances make a cadence.
    private static let enough = 5

    /// When the last notification was delivered.
    private(set) var last: Instant
    private var average: Int64
    private var count: Int

    /// What was remembered: the last delivery, and the milliseconds that usually lay between two.
    init(last: Instant, typicalInterval: Int64? = nil) {
      self.last = last
      average = typicalInterval ?? 0
      count = typicalInterval == nil ? 0 : Self.enough
    }

    /// Milliseconds that usually lie between two deliveries; `nil` until there were enough to tell.
    var typicalInterval: Int64? { count < Self.enough ? nil : average }

    mutating package func recordArrival(at moment: Instant) {
      let distance = max(0, moment.milliseconds(since: last))
      last = max(last, moment)
      // A moving average: a distance counts less the longer ago it was.
      average = count == 0 ? distance : (average * 4 + distance) / 5
      count = min(count + 1, Self.enough)
    }
  }

  private let beats = Mutex<[AppEnvironment: ArrivalStatistics]>([:])

  /// A cadence of which nothing is known.
  package init() {}

  /// A notification was delivered.
  package func recordArrival(_ place: AppEnvironment, at moment: Instant) {
    beats.withLock { beats in
      if beats[place] == nil {
        beats[place] = ArrivalStatistics(last: moment)
      } else {
        beats[place]?.recordArrival(at: moment)
      }
    }
  }

  /// What was heard at a place; `nil` if nothing.
  func statistics(_ place: AppEnvironment) -> ArrivalStatistics? { beats.withLock { $0[place] } }

  /// What was remembered of a place from before; counts if nothing was heard since.
  func remember(_ statistics: ArrivalStatistics, of place: AppEnvironment) {
    beats.withLock { beats in
      if beats[place] == nil { beats[place] = statistics }
    }
  }
}
