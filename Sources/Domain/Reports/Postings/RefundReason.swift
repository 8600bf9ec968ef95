/// The reason of a posted refund: `FULL`, `PRORATED` or `SEATS`, with ``oneTime`` before it for a one-time purchase, and
/// ``appIssue`` after it if Apple named an issue with the app.
package enum RefundReason {
  /// The beginning of the reason of a refund of a one-time purchase.
  package static let oneTime = "ONE_TIME_"
  /// The end of the reason of a refund for which Apple named an issue with the app.
  package static let appIssue = "_APP_ISSUE"
  private static let kinds = ["FULL", "PRORATED", "SEATS"]

  /// All reasons of refunds of these kinds; `nil`: of all kinds.
  static func all(
    _ kinds: [String]? = nil, isOneTime: Bool? = nil, isAppIssue: Bool? = nil
  ) -> Set<String> {
    let starts = [("", false), (oneTime, true)].filter { isOneTime ?? $0.1 == $0.1 }.map(\.0)
    let ends = [("", false), (appIssue, true)].filter { isAppIssue ?? $0.1 == $0.1 }.map(\.0)
    return Set(
      starts.flatMap { start in (kinds ?? Self.kinds).flatMap { kind in ends.map { start + kind + $0 } } })
  }

  /// Whether a refund with this reason is one of the whole price.
  package static func isFull(_ reason: String) -> Bool {
    reason.hasPrefix("FULL") || reason.hasPrefix(oneTime + "FULL")
  }
}
