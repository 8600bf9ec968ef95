package import AppStore
internal import Entitlements

/// When customers owned a purchase.
package struct PurchaseClaims: Hashable, Sendable {
  /// The times without an owner, in order.
  private var unclaimed: [Range<Instant>]

  /// A purchase without an owner.
  package static let none = PurchaseClaims(ownedFrom: .openEnd)

  /// Creates the times of a purchase with one owner, who has it from `instant` on.
  package init(ownedFrom instant: Instant) {
    unclaimed = .distantPast < instant ? [.distantPast..<instant] : []
  }

  /// Creates the times from the changes of ownership in their order.
  ///
  /// - changes: whether a customer became an owner, otherwise one ceased to be, and when. An owner who came with the first
  ///   evidence about the purchase has no time, and owned it from the beginning.
  package init(_ changes: [(gained: Bool, at: Instant?)]) {
    var owners = 0
    var since: Instant? = .distantPast
    unclaimed = []
    for change in changes {
      owners += change.gained ? 1 : -1
      let instant = change.at ?? .distantPast
      if owners > 0, let start = since {
        if start < instant { unclaimed.append(start..<instant) }
        since = nil
      } else if owners <= 0, since == nil {
        since = instant
      }
    }
    if let since { unclaimed.append(since..<Instant.openEnd) }
  }

  /// The parts of a time in which no customer owned the purchase.
  func unclaimed(from start: Instant, to end: Instant) -> [Range<Instant>] {
    unclaimed.compactMap { time in
      let (from, to) = (max(start, time.lowerBound), min(end, time.upperBound))
      return from < to ? from..<to : nil
    }
  }
}
