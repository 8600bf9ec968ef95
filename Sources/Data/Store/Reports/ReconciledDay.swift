package import AppStore
package import Reports

/// The result of a comparison with one of Apple's reports of one day.
package struct ReconciledDay: Hashable, Sendable {
  /// The day of the report, in Apple's zone.
  package let day: ReportDay
  /// Such as `SUBSCRIBER`.
  package let report: String
  /// The number among the results of the report and day, from 1, which the store assigns.
  package var run: Int64 = 0
  /// The items that are equal on both sides.
  package var matched: Int64 = 0
  /// The items whose difference a rule explains.
  package var explained: Int64 = 0
  /// The differences that no rule explains.
  package var unexplained: Int64 = 0
  /// Apple's rows that could not be compared.
  package var unknownRows: Int64 = 0
  /// The names of the report's files, without newlines.
  package var files: [String] = []
  /// By the service's clock.
  package let recordedAt: Instant

  package init(day: ReportDay, report: String, recordedAt: Instant) {
    self.day = day
    self.report = report
    self.recordedAt = recordedAt
  }
}
