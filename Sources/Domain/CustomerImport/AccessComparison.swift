package import AppStore
internal import JSON

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

  /// Returns what bodies of events state about one customer, ordered by entitlement. Bodies that are no events count as
  /// none.
  package func access(of customerID: String, statedBy bodies: [[UInt8]]) -> [StatedAccess] {
    var statements = AccessStatements(entitlementNames: entitlementNames)
    for body in bodies {
      guard let event = try? RevenueCatEvent(body), let document = try? JSONValue(parsing: body) else {
        continue
      }
      statements.add(event, document)
    }
    return statements.access.filter { $0.customerID == customerID }
  }

  /// Compares at `now`; `nil` if both agree.
  package func disagreement(
    about stated: StatedAccess, isEntitled: Bool, until: Instant?, at now: Instant
  ) -> AccessDisagreement? {
    AccessDisagreement(
      stated: stated.deciding?.until, isEntitled: isEntitled, until: until, at: now, tolerance: tolerance)
  }
}
