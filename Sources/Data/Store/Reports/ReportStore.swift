package import AppStore
package import Reports

/// Evidence about a purchase whose postings were not derived from it yet.
package struct PendingReportEvidence: Hashable, Sendable {
  package let id: EvidenceID
  package let line: LineKey
  package let knownAt: Instant
  /// The route by which it arrived.
  package let source: Evidence.Source
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
  package let line: LineKey
  package let state: ReportLineState
  /// When customers owned it; `nil`: see ``ReportStore/claims(of:)``.
  package let claims: PurchaseClaims?
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
  package let appID: String
  package let environment: Environment
  package let postings: [Posting]
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
  package let appID: String
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

/// Stores postings and the sums of them. Postings are appended and never changed.
package protocol ReportStore {
  /// Records that a purchase has new facts.
  func enqueueForReports(_ line: LineKey, from evidence: EvidenceID) throws(StoreError)

  /// Returns at most `limit` pieces of evidence that are queued, in their order.
  func reportQueue(in domain: ClockDomain, limit: Int) throws(StoreError) -> [PendingReportEvidence]

  /// Returns the first queued purchases after `line` in the order of their keys, with at most `limit` pieces of evidence;
  /// `nil` begins. The last purchase may have more of them.
  func queuedPurchases(
    in domain: ClockDomain, after line: LineKey?, limit: Int
  ) throws(StoreError) -> [QueuedPurchase]

  /// Removes all evidence about the purchases after `first` up to `last` from the queue; `nil` begins.
  func removeQueuedPurchases(
    in domain: ClockDomain, after first: LineKey?, through last: LineKey
  ) throws(StoreError)

  /// Returns the queued evidence about a purchase, in its order.
  func pendingReportEvidence(of line: LineKey) throws(StoreError) -> [PendingReportEvidence]

  /// Returns at most `limit` purchases whose postings change by time alone by `now`, the longest overdue first.
  func reportsDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [DerivationStart]

  /// Returns what was derived of a purchase; nothing of a new one.
  func reportState(of line: LineKey) throws(StoreError) -> ReportLineState

  /// Returns when customers owned a purchase.
  func claims(of line: LineKey) throws(StoreError) -> PurchaseClaims

  /// Replaces what was derived of a purchase.
  func put(_ state: ReportLineState, of line: LineKey) throws(StoreError)

  /// Returns all purchases of the payer of a purchase, with itself, sorted.
  func linesOfPayer(of line: LineKey) throws(StoreError) -> [LineKey]

  /// Returns at most `limit` purchases, and app installs with a withdrawn consent, of an app after `last`, in their order.
  func purchases(
    of appID: String, in environment: Environment, after last: String, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// Returns all postings of a purchase, in the order in which they were appended.
  func postings(of line: LineKey) throws(StoreError) -> [Posting]

  /// Appends postings, and adds them to the sums and revisions.
  func append(_ new: [NewPostings]) throws(StoreError)

  /// Adds to the sums without postings, for synthetic payers.
  func add(
    _ cells: [ReportCell], known: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError)

  /// Removes all evidence about a purchase from the queue.
  func removeReportEvidence(of line: LineKey) throws(StoreError)

  /// Returns the earliest instant whose evidence or time is not in the postings yet; `nil` without one.
  func earliestReportWork(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns the environments with postings, each with its last closed day.
  func reportCalendars(in domain: ClockDomain) throws(StoreError) -> [ReportCalendar]

  /// Returns the first closed day that closed after `instant`; `nil` if none did.
  func firstDay(
    closedAfter instant: Instant, of appID: String, in environment: Environment
  ) throws(StoreError) -> ReportDay?

  /// Closes a day at an instant.
  func close(
    _ day: ReportDay, at instant: Instant, of appID: String, in environment: Environment
  ) throws(StoreError)

  /// Compares what a closing adds to the movements with what it adds to the active subscriptions, by day, product, storefront and
  /// offer, and records the days where they differ.
  ///
  /// - Returns: the number of differences.
  func recordBreaks(
    closing day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> Int64

  /// Records the differences of all closings again: after the postings were derived again.
  func recordAllBreaks(of appID: String, in environment: Environment) throws(StoreError)

  /// Returns the catalog of the postings; `nil` before the first one.
  func reportCatalog(of appID: String, in environment: Environment) throws(StoreError) -> ReportCatalog?

  /// Replaces the catalog of the postings.
  func put(
    _ catalog: ReportCatalog, of appID: String, in environment: Environment
  ) throws(StoreError)

  /// Replaces the result of a comparison with one of Apple's reports of one day.
  func put(_ result: ReconciledDay, of appID: String, in environment: Environment) throws(StoreError)

  /// Deletes all postings, sums and revisions of one environment of an app, and queues all evidence about its purchases,
  /// so that they are derived again. The closed days keep the instants at which they closed.
  func resetReports(of appID: String, in environment: Environment) throws(StoreError)
}

/// A change of a closed day.
package struct ReportRevision: Hashable, Sendable {
  package let day: ReportDay
  /// From 1, in the order in which the changes became known.
  package let number: Int64
  /// The day with whose closing it became known.
  package let knownDay: ReportDay
  /// The number of postings by cause.
  package let causes: [String: Int64]

  package init(day: ReportDay, number: Int64, knownDay: ReportDay, causes: [String: Int64]) {
    self.day = day
    self.number = number
    self.knownDay = knownDay
    self.causes = causes
  }
}

/// The evidence of one environment of an app that is not in the postings yet.
package struct ReportBacklog: Hashable, Sendable {
  /// The number of purchases with queued evidence.
  package let purchases: Int64
  /// When the oldest of it became known, or time alone changed something; `nil`: nothing waits.
  package let since: Instant?

  package init(purchases: Int64, since: Instant?) {
    self.purchases = purchases
    self.since = since
  }
}

/// Reads what ``ReportStore`` keeps.
package protocol ReportReader {
  /// Returns the next time at which postings are to be derived; `nil` if there is none. `delay` is how long after its
  /// end a day of an app closes, in milliseconds.
  func nextReportDue(
    in domain: ClockDomain, closingAfter delay: (String) -> Int64
  ) throws(StoreError) -> Instant?

  /// Returns the catalog of the postings; `nil` before the first one.
  func reportCatalog(of appID: String, in environment: Environment) throws(StoreError) -> ReportCatalog?

  /// Returns what waits for the worker at `now`: evidence that is queued, and what time alone changed.
  func reportBacklog(
    of appID: String, in environment: Environment, at now: Instant
  ) throws(StoreError) -> ReportBacklog

  /// Returns what ``ReportTable`` adds up for a query.
  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportSum]

  /// Returns the days from `first` to before `end` for which a closing by `last` added movements that do not explain its stocks;
  /// `nil`: any closing.
  func brokenDays(
    from first: ReportDay, to end: ReportDay, knownBy last: ReportDay?, of appID: String,
    in environment: Environment
  ) throws(StoreError) -> [ReportDay]

  /// Adds the lengths of the periods of products that their subscriptions showed.
  func add(to durations: inout ProductDurations) throws(StoreError)

  /// Returns what the revisions of closed days changed, for the columns of a query.
  func reportChanges(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportChange]

  /// Returns the revisions of the days from `first` to before `end` that became known by `last`, in order. With
  /// `ofStocks`, those of earlier days that became known after `first` too.
  func reportRevisions(
    from first: ReportDay, to end: ReportDay, ofStocks: Bool, knownBy last: ReportDay?, of appID: String,
    in environment: Environment
  ) throws(StoreError) -> [ReportRevision]

  /// Returns the purchases whose postings add up to a value, ordered by purchase, at most `limit` after the purchase `line`.
  /// A purchase whose postings cancel each other out is left out.
  func reportPurchases(
    _ selection: PostingSelection, of appID: String, in environment: Environment, after line: String,
    limit: Int
  ) throws(StoreError) -> [ReportPurchase]

  /// Returns the last day that was closed at or before `instant`, with the instant at which it closed; `nil` if none
  /// was.
  func lastClosedDay(
    of appID: String, in environment: Environment, by instant: Instant
  ) throws(StoreError) -> (day: ReportDay, closedAt: Instant)?

  /// Returns at most `limit` postings of an app after a position, in the order of their positions.
  func postings(
    after position: Int64, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [StoredPosting]

  /// Returns at most `limit` postings that were so in a span of time, after the last one of the previous page; `nil`
  /// begins. The order is that of time.
  func postings(
    in span: Range<Instant>, after last: StoredPosting?, of appID: String, in environment: Environment,
    limit: Int
  ) throws(StoreError) -> [StoredPosting]

  /// Returns the results of comparisons with Apple's reports of the days from `first` to before `end`, by day and report.
  func reconciledDays(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReconciledDay]

  /// Returns the sums of the stocks before a day: postings without a line and a transaction, at the start of the day.
  func openingStocks(
    of day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [Posting]
}

extension ReportReader {
  /// Returns the last closed day; `nil` if none is.
  package func lastClosedDay(of appID: String, in environment: Environment) throws(StoreError) -> ReportDay? {
    try lastClosedDay(of: appID, in: environment, by: Instant(millisecondsSince1970: .max))?.day
  }
}

/// A stored posting.
package struct StoredPosting: Hashable, Sendable {
  /// Its place among all postings of the store, from 1. It grows, and none is used again.
  package let position: Int64
  package let posting: Posting
  package let knownAt: Instant
  package let cause: RevisionCause

  package init(position: Int64, posting: Posting, knownAt: Instant, cause: RevisionCause) {
    self.position = position
    self.posting = posting
    self.knownAt = knownAt
    self.cause = cause
  }
}
