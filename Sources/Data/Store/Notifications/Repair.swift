package import AppStore
package import Entitlements

/// One gap repair: a reconciliation run after missed notifications, with its progress.
package struct Repair: Hashable, Sendable {
  /// The cause of a repair. The raw values are stored and part of the API: never change one.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The service was not running.
    case downtime = "DOWNTIME"
    /// No notification arrived for a multiple of the app's typical interval.
    case deliveryGap = "DELIVERY_GAP"
    /// The daily search for notifications that Apple failed to deliver.
    case scheduled = "SCHEDULED"
    /// An operator requested it.
    case manual = "MANUAL"
    /// The configured interval of full polls elapsed: every purchase is queried.
    case fullPoll = "FULL_POLL"
  }

  /// The phase that runs, or resumes after an interruption. The raw values are stored: never change one.
  package enum Phase: String, Hashable, Sendable, CaseIterable {
    /// Ingests Apple's notification history, page by page.
    case history = "HISTORY"
    /// Queries Apple about the affected purchases.
    case customers = "CUSTOMERS"
    /// Compares the states before and after.
    case comparison = "COMPARISON"
    /// Nothing is left to do.
    case done = "DONE"
  }

  /// 0 until the store assigns it.
  package var id: Int64
  /// The operator's name for the app.
  package var appID: String
  package var environment: Environment
  /// The cause of the run.
  package var reason: Reason
  /// The start of the examined time span, inclusive.
  package var from: Instant
  /// The end of the examined time span, exclusive.
  package var to: Instant
  /// Whether it examines only notifications that Apple failed to deliver.
  package var onlyFailures: Bool
  /// By the service's clock.
  package var startedAt: Instant
  /// `nil` while the repair runs.
  package var finishedAt: Instant?
  /// The phase to run or to resume.
  package var phase = Phase.history
  /// The next page of the history; `nil` at its beginning.
  package var pageToken: String?
  /// The number of missed notifications that the repair ingested.
  package var received: Int64 = 0
  /// The number of notifications that were stored already.
  package var alreadyKnown: Int64 = 0
  /// The number of purchases with a call to Apple.
  package var queriedPurchases: Int64 = 0
  /// The error of the last attempt, which is retried; empty if there is none.
  package var error = ""
  /// The error of a part that the repair left out: Apple refused the history, so that notifications of the time span
  /// may be missing, or some purchases could not be looked up; empty if there is none.
  package var partialError = ""

  /// Creates a new repair.
  package init(
    id: Int64 = 0, appID: String, environment: Environment, reason: Reason, from: Instant, to: Instant,
    onlyFailures: Bool = false, startedAt: Instant
  ) {
    self.id = id
    self.appID = appID
    self.environment = environment
    self.reason = reason
    self.from = from
    self.to = to
    self.onlyFailures = onlyFailures
    self.startedAt = startedAt
  }
}

/// A difference between stored state and Apple's, found by a repair: one entry of its report.
package struct Drift: Hashable, Sendable {
  /// The customer whose answer differs.
  package let customer: CustomerKey
  /// The entitlement that the answer is about.
  package let entitlement: String
  /// The time at which both statuses are evaluated.
  package let detectedAt: Instant
  /// The status before the repair.
  package let before: EntitlementStatus
  /// The status at the same instant after the repair; `nil` while the repair runs.
  package let after: EntitlementStatus?

  /// Creates an entry from its parts.
  package init(
    customer: CustomerKey, entitlement: String, detectedAt: Instant, before: EntitlementStatus,
    after: EntitlementStatus?
  ) {
    self.customer = customer
    self.entitlement = entitlement
    self.detectedAt = detectedAt
    self.before = before
    self.after = after
  }
}

extension Drift {
  /// The position of an entry in its report, which is ordered by customer and entitlement.
  package struct Key: Hashable, Sendable {
    package let customerID: String
    package let entitlement: String

    /// Creates a key from its parts.
    package init(customerID: String, entitlement: String) {
      self.customerID = customerID
      self.entitlement = entitlement
    }
  }

  /// The position of this entry.
  package var key: Key { Key(customerID: customer.customerID, entitlement: entitlement) }
}

/// The time up to which Apple's deliveries to one app environment are known to be complete.
package struct DeliveryWatermark: Hashable, Sendable {
  /// The service received all notifications up to this time, or a repair fetched them.
  package private(set) var completeUntil: Instant
  /// The time whose notification history must be read before the watermark may advance; `nil` if there is none.
  package var unread: Range<Instant>?
  /// A repair searched for failed deliveries up to this time.
  package var searchedUntil: Instant
  /// The time of the last delivered notification; `nil` before the first.
  package var lastDelivery: Instant?
  /// The typical number of milliseconds between deliveries; `nil` until there are enough to estimate it.
  package var typicalInterval: Int64?
  /// The time of the last full poll; `nil` if there was none.
  package var lastFullPollAt: Instant?

  /// The watermark of an app whose deliveries begin at `start`.
  package init(start: Instant) {
    completeUntil = start
    searchedUntil = start
    lastFullPollAt = start
  }

  /// The time up to which deliveries were received or a repair is responsible for them.
  package var examinedUntil: Instant { unread.map { max($0.upperBound, completeUntil) } ?? completeUntil }

  /// Records that deliveries were received until `now`, also after the clock was set back. While a history is unread,
  /// earlier ones may be missing.
  package mutating func advance(to now: Instant) {
    if unread == nil { completeUntil = now }
  }

  /// Records that the history of `span` was read: of all notifications, or with `onlyFailures` of those that Apple failed
  /// to deliver, which is enough unless a later pause followed.
  package mutating func read(_ span: Range<Instant>, onlyFailures: Bool) {
    guard let unread, span.lowerBound <= unread.lowerBound, unread.lowerBound < span.upperBound else {
      return
    }
    if span.upperBound >= unread.upperBound {
      self.unread = nil
    } else if !onlyFailures {
      self.unread = span.upperBound..<unread.upperBound
    } else {
      return
    }
    completeUntil = max(completeUntil, span.upperBound)
  }
}
