package import AppStore
package import Reports

/// Evidence about a purchase whose postings were not derived from it yet.
package struct PendingReportEvidence: Hashable, Sendable {
  /// The evidence.
  package let id: EvidenceID
  /// The purchase that it is about.
  package let line: LineKey
  /// When it became known; see ``StoredEvidence/knownAt``.
  package let knownAt: Instant
  /// The route by which it arrived.
  package let source: Evidence.Source
  /// The format of its bytes.
  package let kind: Evidence.Kind

  package init(
    id: EvidenceID, line: LineKey, knownAt: Instant, source: Evidence.Source, kind: Evidence.Kind
  ) {
    self.id = id
    self.line = line
    self.knownAt = knownAt
    self.source = source
    self.kind = kind
  }
}

/// The reason for which a closed day changed.
package struct RevisionCause: RawRepresentable, Hashable, Sendable {
  /// The stored code, which is part of the API.
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  /// A notification or a submission arrived after the day had closed.
  package static let lateNotification = RevisionCause(rawValue: "LATE_NOTIFICATION")
  /// The repair of a gap in Apple's notifications brought it.
  package static let historyRepair = RevisionCause(rawValue: "HISTORY_REPAIR")
  /// A status poll or another call to Apple brought it.
  package static let poll = RevisionCause(rawValue: "POLL")
  /// A migration brought it.
  package static let migration = RevisionCause(rawValue: "MIGRATION")
  /// A refund became known late.
  package static let refundLearnedLate = RevisionCause(rawValue: "REFUND_LEARNED_LATE")
  /// A newer document of Apple's contradicts an older one.
  package static let correctedByApple = RevisionCause(rawValue: "CORRECTED_BY_APPLE")
  /// Another catalog, or another share of the operator, applies to the past too.
  package static let catalogChanged = RevisionCause(rawValue: "CATALOG_CHANGED")
  /// Time alone brought it, such as an expiry. It revises a day only if the service was down.
  package static let time = RevisionCause(rawValue: "TIME")
}

/// The derived state of one purchase.
package struct ReportLineState: Hashable, Sendable {
  /// When time alone next changes the postings of its payer; `nil`: never, or another purchase of the payer has it.
  package var due: Instant?
  /// The fingerprints of its postings that no other one takes back.
  package var standing: [UInt64]

  package init(due: Instant? = nil, standing: [UInt64] = []) {
    self.due = due
    self.standing = standing
  }
}

/// The stored input of the derivation of a purchase.
package struct DerivationStart: Sendable {
  /// The purchase.
  package let line: LineKey
  /// The result of its last derivation.
  package let state: ReportLineState
  /// When customers owned it; `nil`: see ``ReportStore/claims(of:)``.
  package let claims: PurchaseClaims?
  /// Whether Apple sent consumption requests about it.
  package let hasRefundRequests: Bool
  /// Whether it is the only purchase of its payer.
  package let isOnlyOfPayer: Bool

  package init(
    _ line: LineKey, _ state: ReportLineState, claims: PurchaseClaims?, hasRefundRequests: Bool,
    isOnlyOfPayer: Bool
  ) {
    self.line = line
    self.state = state
    self.claims = claims
    self.hasRefundRequests = hasRefundRequests
    self.isOnlyOfPayer = isOnlyOfPayer
  }
}

/// A purchase with queued evidence.
package struct QueuedPurchase: Sendable {
  /// The purchase with the result of its last derivation.
  package let start: DerivationStart
  /// In its order.
  package var evidence: [PendingReportEvidence]

  package init(_ start: DerivationStart, _ evidence: [PendingReportEvidence]) {
    self.start = start
    self.evidence = evidence
  }
}

/// Postings of one payer that became known together.
package struct NewPostings: Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// The environment of the purchases.
  package let environment: Environment
  /// In the order in which they are appended.
  package let postings: [Posting]
  /// When they became known.
  package let knownAt: Instant
  /// The first day whose closing includes them.
  package let knownDay: ReportDay
  /// The cause where the posting itself shows none.
  package let cause: RevisionCause

  package init(
    _ postings: [Posting], of appID: String, in environment: Environment, knownAt: Instant,
    knownDay: ReportDay, cause: RevisionCause
  ) {
    self.appID = appID
    self.environment = environment
    self.postings = postings
    self.knownAt = knownAt
    self.knownDay = knownDay
    self.cause = cause
  }
}

/// The days of one environment of an app.
package struct ReportCalendar: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// The environment of the purchases.
  package let environment: Environment
  /// The last closed day.
  package let closed: ReportDay
  /// When it closed.
  package let closedAt: Instant

  package init(appID: String, environment: Environment, closed: ReportDay, closedAt: Instant) {
    self.appID = appID
    self.environment = environment
    self.closed = closed
    self.closedAt = closedAt
  }
}

/// The catalog under which the postings of one environment of an app are derived.
package struct ReportCatalog: Hashable, Sendable {
  /// ``AppDefinition/reportFingerprint`` of the catalog.
  package var fingerprint: UInt64
  /// When it took effect.
  package var since: Instant
  /// The last purchase that was derived again under it; `nil`: all were.
  package var reviewed: String?

  package init(fingerprint: UInt64, since: Instant, reviewed: String?) {
    self.fingerprint = fingerprint
    self.since = since
    self.reviewed = reviewed
  }
}
