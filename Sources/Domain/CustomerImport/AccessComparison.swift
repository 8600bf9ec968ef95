package import AppStore

/// Compares what RevenueCat's events state with the answers here.
package struct AccessComparison: Hashable, Sendable {
  /// The names of entitlements here, by their names in RevenueCat.
  package let entitlementNames: [String: String]
  /// The greatest difference of ends that counts as none, in milliseconds.
  package let tolerance: Int64

  /// Creates a comparison from its parts.
  package init(entitlementNames: [String: String], tolerance: Int64) {
    self.entitlementNames = entitlementNames
    self.tolerance = tolerance
  }

  /// Returns what events state, ordered by customer and entitlement.
  package func access(statedBy events: [RevenueCatEvent]) -> [StatedAccess] {
    var statements = AccessStatements(entitlementNames: entitlementNames)
    for event in events { statements.add(event) }
    return statements.access
  }

  /// Compares at `now`; `nil` if both agree.
  package func disagreement(
    about stated: StatedAccess, isEntitled: Bool, until: Instant?, paidUntil: Instant?, at now: Instant
  ) -> AccessDisagreement? {
    AccessDisagreement(
      stated: stated.deciding?.until, isEntitled: isEntitled, until: until, paidUntil: paidUntil, at: now,
      tolerance: tolerance)
  }
}

/// The difference between the answer here and another system's statement.
package enum AccessDisagreement: String, Hashable, Sendable, CaseIterable {
  /// The other system states access, and there is none here.
  case theirsOnly = "THEIRS_ONLY"
  /// There is access here, and the other system states its end.
  case oursOnly = "OURS_ONLY"
  /// Both have access, with ends that differ by more than the tolerance.
  case otherEnd = "OTHER_END"

  /// The greatest `renewal_slack` of an app, in milliseconds.
  private static let greatestSlack: Int64 = Instant.millisecondsPerDay

  /// Compares at `now`; `nil` if both agree. Another system does not know the slack for a late renewal, so its end may also
  /// be that of the paid time, if no more than a slack follows.
  ///
  /// - Parameters:
  ///   - stated: when access ends in the other system; `nil`: it does not end.
  ///   - isEntitled: whether the customer has access here.
  ///   - until: when access ends here; `nil`: it does not end.
  ///   - paidUntil: when the paid time ends here; `nil` if there is none.
  ///   - now: the time of the answer.
  ///   - tolerance: the greatest difference of ends that counts as none, in milliseconds.
  package init?(
    stated: Instant?, isEntitled: Bool, until: Instant?, paidUntil: Instant?, at now: Instant,
    tolerance: Int64
  ) {
    let isStated = stated.map { $0 > now } ?? true
    switch (isStated, isEntitled) {
    case (false, false): return nil
    case (true, false): self = .theirsOnly
    case (false, true): self = .oursOnly
    case (true, true):
      guard let until, let stated else {
        if until == nil, stated == nil { return nil }
        self = .otherEnd
        return
      }
      var ends = [until]
      if let paidUntil, until.milliseconds(since: paidUntil) <= Self.greatestSlack { ends.append(paidUntil) }
      if ends.contains(where: { abs(stated.milliseconds(since: $0)) <= tolerance }) { return nil }
      self = .otherEnd
    }
  }
}
