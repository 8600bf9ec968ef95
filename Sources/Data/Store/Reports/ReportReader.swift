package import AppStore
package import Reports

/// A change of a closed day.
package struct ReportRevision: Hashable, Sendable {
  /// The closed day that changed.
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
  ) throws(StoreError) -> ReportSums

  /// Returns the days from `first` to before `end` for which a closing by `last` added movements that do not explain its stocks;
  /// `nil`: any closing.
  func brokenDays(
    from first: ReportDay, to end: ReportDay, knownBy last: ReportDay?, of appID: String,
    in environment: Environment
  ) throws(StoreError) -> [ReportDay]

  /// Adds the lengths of periods that the subscriptions of products showed.
  func addObservedDurations(to durations: inout ProductDurations) throws(StoreError)

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
  /// A purchase whose postings cancel each other out is left out. About `rows` rows are read, and those of one purchase at least,
  /// so a page of a value that few purchases have can be short or empty before the last one.
  func reportPurchases(
    _ selection: PostingSelection, of appID: String, in environment: Environment, after line: String,
    limit: Int, reading rows: Int
  ) throws(StoreError) -> ReportPurchasePage

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

  /// Returns the latest results of comparisons with Apple's reports of the days from `first` to before `end`, by day and
  /// report.
  func reconciledDays(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReconciledDay]

  /// Returns at most `limit` results of comparisons with Apple's reports of the days from `first` to before `end`: by day and
  /// report, the latest first.
  func reconciliationRuns(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [ReconciledDay]

  /// Returns the sums of the stocks before a day: postings without a line and a transaction, at the start of the day.
  func openingStocks(
    of day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [Posting]
}

extension ReportReader {
  /// Returns the last closed day; `nil` if none is.
  package func lastClosedDay(of appID: String, in environment: Environment) throws(StoreError) -> ReportDay? {
    try lastClosedDay(of: appID, in: environment, by: .distantFuture)?.day
  }
}

/// A stored posting.
package struct StoredPosting: Hashable, Sendable {
  /// Its place among all postings of the store, from 1. It grows, and none is used again.
  package let position: Int64
  /// The posting.
  package let posting: Posting
  /// When it became known.
  package let knownAt: Instant
  /// The reason for which it changes a closed day, if it does.
  package let cause: RevisionCause

  package init(position: Int64, posting: Posting, knownAt: Instant, cause: RevisionCause) {
    self.position = position
    self.posting = posting
    self.knownAt = knownAt
    self.cause = cause
  }
}
