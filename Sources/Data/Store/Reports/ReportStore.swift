package import AppStore
package import Reports

/// A purchase with new facts, whose postings must be derived again.
package struct QueuedReportLine: Hashable, Sendable {
  package let line: LineKey
  /// When the newest of the facts became known.
  package let knownAt: Instant
  /// The route by which it arrived.
  package let source: Evidence.Source

  package init(line: LineKey, knownAt: Instant, source: Evidence.Source) {
    self.line = line
    self.knownAt = knownAt
    self.source = source
  }
}

/// The reason for which a closed day changed.
package struct RevisionCause: RawRepresentable, Hashable, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  /// A notification or a submission arrived after the day had closed.
  package static let lateNotification = RevisionCause(rawValue: "LATE_NOTIFICATION")
  /// A call to Apple brought it, such as a status poll or the repair of a gap.
  package static let historyRepair = RevisionCause(rawValue: "HISTORY_REPAIR")
  /// A migration brought it.
  package static let migration = RevisionCause(rawValue: "MIGRATION")
  /// A refund became known late.
  package static let refundLearnedLate = RevisionCause(rawValue: "REFUND_LEARNED_LATE")
  /// A newer document of Apple's contradicts an older one.
  package static let correctedByApple = RevisionCause(rawValue: "CORRECTED_BY_APPLE")
  /// Time alone brought it, such as an expiry. It revises a day only if the service was down.
  package static let time = RevisionCause(rawValue: "TIME")
}

/// Postings that became known together.
package struct NewPostings: Sendable {
  package let postings: [Posting]
  package let knownAt: Instant
  /// The cause where the posting itself shows none.
  package let cause: RevisionCause

  package init(_ postings: [Posting], knownAt: Instant, cause: RevisionCause) {
    self.postings = postings
    self.knownAt = knownAt
    self.cause = cause
  }
}

/// Stores postings and the sums of them. Postings are appended and never changed.
package protocol ReportStore {
  /// Records that a purchase has new facts.
  func enqueueForReports(_ line: LineKey, from evidence: EvidenceID) throws(StoreError)

  /// Returns at most `limit` purchases with new facts, in the order of these.
  func reportQueue(in domain: ClockDomain, limit: Int) throws(StoreError) -> [QueuedReportLine]

  /// Returns at most `limit` purchases whose postings change by time alone by `now`, the longest overdue first.
  func reportsDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [(line: LineKey, due: Instant)]

  /// Returns all purchases of the payer of a purchase, with itself, sorted.
  func linesOfPayer(of line: LineKey) throws(StoreError) -> [LineKey]

  /// Returns all postings of a purchase, in the order in which they were appended.
  func postings(of line: LineKey) throws(StoreError) -> [Posting]

  /// Appends postings of one payer's purchases, and adds them to the sums and revisions.
  func append(_ new: NewPostings, of lines: [LineKey]) throws(StoreError)

  /// Removes the purchases of a payer from the queue, and records when time alone next changes their postings.
  func completeReports(of lines: [LineKey], due: Instant?) throws(StoreError)

  /// Records the days that have closed by `now` in every app of a clock.
  func closeDays(by now: Instant, in domain: ClockDomain) throws(StoreError)
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

/// Reads what ``ReportStore`` keeps.
package protocol ReportReader {
  /// Returns the next time at which postings are to be derived; `nil` if there is none.
  func nextReportDue(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns what ``ReportTable`` adds up for a query.
  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportSum]

  /// Returns the revisions of the days from `first` to before `end`, in order.
  func reportRevisions(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportRevision]

  /// Returns the last closed day; `nil` if none is.
  func lastClosedDay(of appID: String, in environment: Environment) throws(StoreError) -> ReportDay?
}
