package import AppStore

/// An external purchase token, which the operator reports to Apple, with the state of its report.
package struct ExternalTokenRecord: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  package let environment: Environment
  /// Apple's `externalPurchaseId`.
  package let externalPurchaseID: String
  /// Apple's `tokenType`; empty for a token without one.
  package var tokenType = ""
  /// Apple's `tokenCreationDate`.
  package var createdAt: Instant
  /// `nil` for a token without an expiration date.
  package var expiresAt: Instant?
  /// The latest evidence about the token.
  package var evidenceID: EvidenceID
  /// The time of Apple's latest notification; `nil` if there was none.
  package var notifiedAt: Instant?
  /// When Apple complained about the missing report (`UNREPORTED`); `nil` if it did not.
  package var complainedAt: Instant?
  /// When Apple accepted a report through this service; `nil` if it did not.
  package var reportedAt: Instant?
  /// Apple's `status` of that report, such as `NO_LINE_ITEM`; empty without a report.
  package var reportStatus = ""
  /// Apple's `requestIdentifier` of that report; empty without a report.
  package var requestIdentifier = ""

  /// The time that Apple grants for a report, in milliseconds (External Purchase Server API, "Reporting unrecognized and
  /// transactionless tokens").
  package static let reportTimeout: Int64 = 10 * Instant.millisecondsPerDay

  /// Creates a token from its first piece of evidence.
  package init(
    _ externalPurchaseID: String, of appID: String, in environment: Environment, createdAt: Instant,
    evidenceID: EvidenceID
  ) {
    self.appID = appID
    self.environment = environment
    self.externalPurchaseID = externalPurchaseID
    self.createdAt = createdAt
    self.evidenceID = evidenceID
  }

  /// When Apple complains: ten days after the creation, or when a token of the custom link API expires.
  package var reportBy: Instant {
    let limit = createdAt.advanced(byMilliseconds: Self.reportTimeout)
    let isAnnounced = [ExternalPurchaseTokenType.acquisition, .services].contains { $0.rawValue == tokenType }
    guard isAnnounced, let expiresAt else { return limit }
    return min(limit, expiresAt)
  }

  /// Whether Apple accepted a report, and has not complained since.
  package var isReported: Bool {
    guard let reportedAt else { return false }
    return complainedAt.map { $0 <= reportedAt } ?? true
  }

  /// Whether a report is missing after Apple's deadline.
  package func isOverdue(at now: Instant) -> Bool {
    !isReported && (complainedAt != nil || reportBy <= now)
  }
}

/// Selects external purchase tokens of an app; a `nil` member matches all.
package struct ExternalTokenFilter: Hashable, Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// `nil`: all environments of the app.
  package var environment: Environment?
  /// Whether tokens with a report are left out.
  package var onlyUnreported = true
  /// The deadline and the id of the last token of the previous page.
  package var after: TimedPosition?
  /// The maximum number of tokens; at least 1.
  package var limit: Int

  /// Selects the unreported tokens of an app with the earliest deadlines.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// Stores external purchase tokens.
package protocol ExternalTokenStore {
  /// Returns a token; `nil` if nothing is known about it.
  func externalToken(
    _ externalPurchaseID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> ExternalTokenRecord?

  /// Inserts or replaces a token.
  func put(_ token: ExternalTokenRecord) throws(StoreError)
}

/// Reads external purchase tokens.
package protocol ExternalTokenReader {
  /// Returns the tokens that match, the earliest deadline first.
  func externalTokens(_ query: ExternalTokenFilter) throws(StoreError) -> [ExternalTokenRecord]

  /// Returns the number of unreported tokens and their earliest deadline, of each app environment that has any.
  func unreportedExternalTokens() throws(StoreError) -> [OpenDuties]
}
