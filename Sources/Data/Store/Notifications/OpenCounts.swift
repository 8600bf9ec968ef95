package import AppStore

/// The number of open records of one kind in one app and environment. Readers return none for an app environment without
/// such a record.
package struct OpenCount: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Apple's environment of the records.
  package let environment: Environment
  /// At least 1.
  package let count: Int64

  /// Creates a count from its parts.
  package init(appID: String, environment: Environment, count: Int64) {
    self.appID = appID
    self.environment = environment
    self.count = count
  }
}

/// The open duties of one kind towards Apple in one app and environment, and when the first of them began or ends.
package struct OpenDuties: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Apple's environment of the duties.
  package let environment: Environment
  /// At least 1.
  package let count: Int64
  /// The earliest of their times; which time that is, each reader states.
  package let earliest: Instant

  /// Creates a count from its parts.
  package init(appID: String, environment: Environment, count: Int64, earliest: Instant) {
    self.appID = appID
    self.environment = environment
    self.count = count
    self.earliest = earliest
  }
}
