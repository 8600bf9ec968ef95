package import AppStore
package import Reports

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

  /// Returns the queued evidence about each purchase, in its order; all in one round trip.
  func pendingReportEvidence(
    of lines: Set<LineKey>
  ) throws(StoreError) -> [LineKey: [PendingReportEvidence]]

  /// Returns at most `limit` purchases whose postings change by time alone by `now`, the longest overdue first.
  func reportsDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [DerivationStart]

  /// Reads the facts of purchases together, before they are read one by one; without effect in a store whose reads cost no
  /// round trip.
  func prepareFacts(of lines: [LineKey]) throws(StoreError)

  /// Returns when customers owned a purchase.
  func claims(of line: LineKey) throws(StoreError) -> PurchaseClaims

  /// Replaces what was derived of a purchase.
  func put(_ state: ReportLineState, of line: LineKey) throws(StoreError)

  /// Returns all purchases of the payer of each purchase, with itself, sorted by their ids; all in one round trip.
  func payers(of lines: Set<LineKey>) throws(StoreError) -> [LineKey: [DerivationStart]]

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

  /// Packs at most `limit` sums of the closed days, so that reports read them faster, and adds up whole months.
  ///
  /// - Returns: whether there may be more.
  func packReports(
    through closed: ReportDay, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> Bool

  /// Records the differences of all closings again: after the postings were derived again.
  func recordAllBreaks(of appID: String, in environment: Environment) throws(StoreError)

  /// Returns the catalog of the postings; `nil` before the first one.
  func reportCatalog(of appID: String, in environment: Environment) throws(StoreError) -> ReportCatalog?

  /// Replaces the catalog of the postings.
  func put(
    _ catalog: ReportCatalog, of appID: String, in environment: Environment
  ) throws(StoreError)

  /// Appends the result of a comparison with one of Apple's reports of one day, as the next run of this report and day.
  func append(
    _ result: ReconciledDay, of appID: String, in environment: Environment
  ) throws(StoreError)

  /// Deletes all postings, sums and revisions of one environment of an app, and queues all evidence about its purchases,
  /// so that they are derived again. The closed days keep the instants at which they closed.
  func resetReports(of appID: String, in environment: Environment) throws(StoreError)
}
