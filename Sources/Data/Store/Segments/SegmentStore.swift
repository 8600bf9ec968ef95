package import AppStore
package import Entitlements

/// A purchase of one customer with its state.
package struct StoredPurchaseState: Hashable, Sendable {
  /// The purchase.
  package let line: LineKey
  /// Empty if the purchase has no owner.
  package let customerID: String
  /// The state for this customer.
  package let state: PurchaseState

  package init(line: LineKey, customerID: String, state: PurchaseState) {
    self.line = line
    self.customerID = customerID
    self.state = state
  }

  /// The customer; with an empty id if the purchase has no owner.
  package var customer: CustomerKey { line.customer(customerID) }

  /// Whether the purchase has no owner.
  package var isUnclaimed: Bool { customerID.isEmpty }
}

/// A saved segment of one app in one environment.
package struct SavedSegment: Hashable, Sendable {
  /// Unique in the app and environment.
  package let name: String
  package let appEnvironment: AppEnvironment
  /// The conditions that all its members meet.
  package var conditions: SegmentConditions
  /// Whether the configuration defines it, instead of a call.
  package var isConfigured: Bool
  /// By the service's clock.
  package let createdAt: Instant
  /// The instant of the last member that time alone changed, or of the definition. The events up to it and the writes
  /// since then give the members of the segment.
  package var evaluatedAt: Instant

  package init(
    name: String, of appEnvironment: AppEnvironment, _ conditions: SegmentConditions, isConfigured: Bool,
    createdAt: Instant, evaluatedAt: Instant
  ) {
    self.name = name
    self.appEnvironment = appEnvironment
    self.conditions = conditions
    self.isConfigured = isConfigured
    self.createdAt = createdAt
    self.evaluatedAt = evaluatedAt
  }
}

/// Stores the state of each purchase, and the saved segments.
package protocol SegmentStore {
  /// Returns the stored states of a purchase, one for each customer.
  func purchaseStates(of line: LineKey) throws(StoreError) -> [StoredPurchaseState]

  /// Inserts or replaces the state of a purchase of one customer; `known` is the stored one.
  func put(_ state: StoredPurchaseState, known: StoredPurchaseState?) throws(StoreError)

  /// Deletes the state of a purchase of one customer.
  func delete(_ state: StoredPurchaseState) throws(StoreError)

  /// Returns at most `limit` purchases whose state changes by `now` without new evidence, the longest overdue first.
  func purchaseStatesDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [(line: LineKey, due: Instant)]

  /// Returns at most `limit` purchases of an app after a line, ordered by line id and environment.
  func purchasesWithState(
    of appID: String, after line: LineKey?, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// Returns the saved segments of an app environment, ordered by name.
  func segments(of appEnvironment: AppEnvironment) throws(StoreError) -> [SavedSegment]

  /// Returns all saved segments whose environment the clock governs.
  func segments(in domain: ClockDomain) throws(StoreError) -> [SavedSegment]

  /// Inserts or replaces a saved segment.
  func put(_ segment: SavedSegment) throws(StoreError)

  func delete(_ segment: SavedSegment) throws(StoreError)

  /// Returns the purchases that time alone may bring into a segment or out of it, after its last evaluation and up to
  /// the returned instant: at most `now`, and earlier if there are more than about `limit`.
  func crossings(
    of segment: SavedSegment, by now: Instant, limit: Int
  ) throws(StoreError) -> (states: [StoredPurchaseState], end: Instant)
}

/// A page of a segment.
package struct SegmentQuery: Sendable {
  package var conditions: SegmentConditions
  package var appEnvironment: AppEnvironment
  /// The time of the answer.
  package var instant: Instant
  /// The number of the last row of the previous page; 0 begins.
  package var after: Int64
  /// The maximum number of members; at least 1.
  package var limit: Int

  package init(
    _ conditions: SegmentConditions, of appEnvironment: AppEnvironment, at instant: Instant,
    after: Int64 = 0, limit: Int
  ) {
    self.conditions = conditions
    self.appEnvironment = appEnvironment
    self.instant = instant
    self.after = after
    self.limit = limit
  }
}

/// A purchase of a segment.
package struct SegmentMember: Hashable, Sendable {
  /// The number of the row, which orders the pages. It never changes.
  package let number: Int64
  /// The purchase with its stored state.
  package let purchase: StoredPurchaseState

  package init(number: Int64, purchase: StoredPurchaseState) {
    self.number = number
    self.purchase = purchase
  }
}

/// Reads what ``SegmentStore`` keeps.
package protocol SegmentReader {
  /// Returns the members of a segment after a row, ordered by row.
  func members(_ query: SegmentQuery) throws(StoreError) -> [SegmentMember]

  /// Returns the number of all members, at most `limit`; the page of the query does not matter.
  func memberCount(_ query: SegmentQuery, upTo limit: Int64?) throws(StoreError) -> Int64

  /// Returns the saved segments of an app environment, ordered by name.
  func segments(of appEnvironment: AppEnvironment) throws(StoreError) -> [SavedSegment]

  /// Returns the next time at which a purchase state or a saved segment changes without new evidence; `nil` if there is
  /// none.
  func nextSegmentDue(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns the next time at which a purchase state of an app environment changes without new evidence; `nil` if
  /// there is none.
  func nextPurchaseStateDue(of appEnvironment: AppEnvironment) throws(StoreError) -> Instant?

  /// Returns the next time after the last evaluation at which time alone may change a segment; `nil` if there is none.
  func nextCrossing(of segment: SavedSegment) throws(StoreError) -> Instant?
}

extension SegmentReader {
  /// Returns the number of all members.
  package func memberCount(_ query: SegmentQuery) throws(StoreError) -> Int64 {
    try memberCount(query, upTo: nil)
  }
}
