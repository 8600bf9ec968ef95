package import AppStore

/// A consent of a parent or guardian that was withdrawn (`RESCIND_CONSENT`) for one app install, and whether the operator
/// has done what that requires. The customers of the app install are found through its lines.
package struct ConsentWithdrawalRecord: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  package let environment: Environment
  /// Apple's `appTransactionId` of the app install.
  package let appTransactionID: String
  /// When Apple signed the latest withdrawal.
  package var withdrawnAt: Instant
  /// The evidence of that withdrawal.
  package var evidenceID: EvidenceID
  /// When the operator settled it; `nil` if that did not happen.
  package var settledAt: Instant?
  /// The evidence of the settlement, which has the person and the note.
  package var settlementID: EvidenceID?

  /// Creates a withdrawal that is not settled.
  package init(
    _ appTransactionID: String, of appID: String, in environment: Environment, withdrawnAt: Instant,
    evidenceID: EvidenceID
  ) {
    self.appID = appID
    self.environment = environment
    self.appTransactionID = appTransactionID
    self.withdrawnAt = withdrawnAt
    self.evidenceID = evidenceID
  }

  /// Whether the operator settled the latest withdrawal.
  package var isSettled: Bool { settledAt.map { $0 >= withdrawnAt } ?? false }
}

/// Selects withdrawals of an app; a `nil` member matches all.
package struct ConsentWithdrawalFilter: Hashable, Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// `nil`: all environments of the app.
  package var environment: Environment?
  /// Whether settled withdrawals are left out.
  package var onlyOpen = true
  /// The last withdrawal of the previous page.
  package var after: TimedPosition?
  /// The maximum number of withdrawals; at least 1.
  package var limit: Int

  /// Selects the oldest open withdrawals of an app.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// A withdrawal of the consent of an app install, or its settlement by the operator.
package struct ConsentChange: Hashable, Sendable {
  /// The evidence of the withdrawal or of the settlement.
  package let evidenceID: EvidenceID
  /// When Apple signed the withdrawal, or when the operator settled it.
  package let at: Instant
  /// Whether it is a settlement; otherwise a withdrawal.
  package let isSettlement: Bool

  /// Creates a change from its parts.
  package init(evidenceID: EvidenceID, at: Instant, isSettlement: Bool) {
    self.evidenceID = evidenceID
    self.at = at
    self.isSettlement = isSettlement
  }
}

/// Stores withdrawals of consent.
package protocol ConsentWithdrawalStore {
  /// Returns the withdrawal of an app install; `nil` if there was none.
  func consentWithdrawal(
    _ appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> ConsentWithdrawalRecord?

  /// Returns the withdrawals of the consent of an app install and their settlements, which are evidence of the kind
  /// `settlement`, in the order in which they arrived.
  func consentChanges(
    ofInstall line: LineKey, settledBy settlement: Evidence.Kind
  ) throws(StoreError) -> [ConsentChange]

  /// Inserts or replaces a withdrawal.
  func put(_ withdrawal: ConsentWithdrawalRecord) throws(StoreError)
}

/// Reads withdrawals of consent.
package protocol ConsentWithdrawalReader {
  /// Returns the withdrawal of an app install; `nil` if there was none.
  func consentWithdrawal(
    _ appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> ConsentWithdrawalRecord?

  /// Returns the withdrawals that match, the oldest first.
  func consentWithdrawals(_ query: ConsentWithdrawalFilter) throws(StoreError) -> [ConsentWithdrawalRecord]

  /// Returns the number of open withdrawals and the time of the oldest one, of each app environment that has any.
  func openConsentWithdrawals() throws(StoreError) -> [OpenDuties]
}
