package import AppStore

/// A purchase line about which Apple is still to be asked.
package struct PendingRefresh: Hashable, Sendable {
  /// The line.
  package var line: LineKey
  /// When Apple is asked next.
  package var dueAt: Instant
  /// How often Apple was asked in vain.
  package var attempts: Int
  /// Why Apple was not asked, or in vain: a code for machines.
  package var reason: String

  /// A line by its parts.
  package init(line: LineKey, dueAt: Instant, attempts: Int = 0, reason: String) {
    self.line = line
    self.dueAt = dueAt
    self.attempts = attempts
    self.reason = reason
  }
}

/// Keeps in mind about what Apple is still to be asked, and what it was asked about.
package protocol RefreshStore {
  /// Remembers that Apple is to be asked about a line; what was remembered of it before is forgotten.
  func put(_ refresh: PendingRefresh) throws(StoreError)

  /// Apple was asked about the customer of these lines; nothing is to be asked about them any more.
  func settleRefreshes(of lines: [LineKey], at moment: Instant) throws(StoreError)

  /// At most `limit` lines about which Apple is to be asked by `moment`, those that are due longest first.
  func refreshes(dueBy moment: Instant, limit: Int) throws(StoreError) -> [PendingRefresh]

  /// When Apple was last asked about the customer of a line; `nil` if never.
  func lastRefresh(of line: LineKey) throws(StoreError) -> Instant?
}
