internal import AppStore
internal import Entitlements
internal import Pages
internal import Wire

/// The lanes of a picture, and those that are folded because there are many: first those that ended long ago.
struct LaneSelection: Sendable {
  static let maxLanes = 12
  private static let old: Int64 = 2 * 365 * Instant.millisecondsPerDay

  let shown: [Lane]
  let folded: [Lane]

  /// The lanes of a history at an instant. What Apple said and what we did is always shown.
  init(_ history: GetCustomerHistoryResponse, grants: [Grant] = [], at now: Instant) {
    let (states, events) = (Lane.states(history, grants: grants), Lane.events(history))
    guard states.count + events.count > Self.maxLanes else {
      (shown, folded) = (states + events, [])
      return
    }
    let cutoff = now.advanced(byMilliseconds: -Self.old)
    let recent = states.indices.filter { states[$0].lastActivity.map { $0 > cutoff } ?? true }
      .sorted { (states[$0].lastActivity ?? .openEnd) > (states[$1].lastActivity ?? .openEnd) }
    let kept = Set(recent.prefix(max(1, Self.maxLanes - events.count)))
    shown = states.indices.filter(kept.contains).map { states[$0] } + events
    folded = states.indices.filter { !kept.contains($0) }.map { states[$0] }
  }
}

extension Lane {
  /// The last instant of anything in the lane; `nil` if a bar has no end.
  fileprivate var lastActivity: Instant? {
    guard !bars.contains(where: { $0.end == nil }) else { return nil }
    return (bars.compactMap(\.end) + (marks + dots).map(\.at)).max()
  }
}
