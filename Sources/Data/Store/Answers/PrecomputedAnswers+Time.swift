package import AppStore
internal import Entitlements

extension PrecomputedAnswers {
  /// When time alone changes one of the answers first, as far as they tell; `nil` if it never does.
  package var nextChange: Instant? {
    timelines.values.compactMap { $0.segments.first?.end }.min()
  }
}
