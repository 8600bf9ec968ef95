internal import AppStore
internal import Synchronization

/// At what distances notifications usually arrive, for each app and environment: what tells a silence from a
/// quiet hour.
package final class DeliveryRhythm: Sendable {
  /// One app in one environment.
  struct Place: Hashable, Sendable {
    let appID: String
    let environment: Environment
  }

  /// What was heard at one place.
  struct Beat: Hashable, Sendable {
    /// So many distances make a rhythm.
    private static let enough = 5

    /// When the last notification was delivered.
    private(set) var last: Instant
    private var average: Int64
    private var count: Int

    /// What was remembered: the last delivery, and the milliseconds that usually lay between two.
    init(last: Instant, usual: Int64? = nil) {
      self.last = last
      average = usual ?? 0
      count = usual == nil ? 0 : Self.enough
    }

    /// Milliseconds that usually lie between two deliveries; `nil` until there were enough to tell.
    var usual: Int64? { count < Self.enough ? nil : average }

    mutating func heard(at moment: Instant) {
      let distance = max(0, moment.milliseconds(since: last))
      last = max(last, moment)
      // A moving average: a distance counts less the longer ago it was.
      average = count == 0 ? distance : (average * 4 + distance) / 5
      count = min(count + 1, Self.enough)
    }
  }

  private let beats = Mutex<[Place: Beat]>([:])

  /// A rhythm of which nothing is known.
  package init() {}

  /// A notification was delivered.
  func heard(_ place: Place, at moment: Instant) {
    beats.withLock { beats in
      if beats[place] == nil {
        beats[place] = Beat(last: moment)
      } else {
        beats[place]?.heard(at: moment)
      }
    }
  }

  /// What was heard at a place; `nil` if nothing.
  func beat(_ place: Place) -> Beat? { beats.withLock { $0[place] } }

  /// What was remembered of a place from before; counts if nothing was heard since.
  func remember(_ beat: Beat, of place: Place) {
    beats.withLock { beats in
      if beats[place] == nil { beats[place] = beat }
    }
  }
}
