package import AppStore
package import Entitlements

/// One filling of a gap from what Apple remembers: what started it, and how far it came.
package struct Repair: Hashable, Sendable {
  /// What started it.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The service was not running.
    case downtime = "DOWNTIME"
    /// No notification came for longer than is typicalInterval for the app.
    case quiet = "QUIET"
    /// Once a day: what Apple says that it could not deliver.
    case sweep = "SWEEP"
    /// Somebody asked for it.
    case byHand = "MANUAL"
    /// As often as the operator wants it: Apple is asked about every purchase, whatever was told.
    case all = "ALL"
  }

  /// What is being done.
  package enum Phase: String, Hashable, Sendable, CaseIterable {
    /// Apple's notification history is taken in, page by page.
    case history = "HISTORY"
    /// Apple is asked about those who were touched.
    case customers = "CUSTOMERS"
    /// What was believed is compared with what Apple says.
    case comparison = "COMPARISON"
    case done = "DONE"
  }

  /// Its number; 0 until it has one.
  package var id: Int64
  package var appID: String
  package var environment: Environment
  package var reason: Reason
  /// The time that is looked at: notifications signed from then on ...
  package var from: Instant
  /// ... and before then.
  package var to: Instant
  /// Only what Apple could not deliver is looked at.
  package var onlyFailures: Bool
  package var startedAt: Instant
  /// `nil` while it goes on.
  package var finishedAt: Instant?
  package var phase = Phase.history
  /// Where the history goes on; `nil` at its beginning.
  package var pageToken: String?
  /// Notifications that had not arrived.
  package var received: Int64 = 0
  /// Notifications that had.
  package var alreadyKnown: Int64 = 0
  /// Purchases about which Apple was asked.
  package var asked: Int64 = 0
  /// Why it stands still; empty if it does not.
  package var problem = ""

  /// A repair that is to begin.
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

/// What was believed of a customer at a moment, and what Apple's word turned out to be: a line of a repair's
/// report.
package struct Drift: Hashable, Sendable {
  package let customer: CustomerKey
  package let entitlement: String
  /// The moment that both answers are about.
  package let noticedAt: Instant
  /// The answer before the repair.
  package let believed: EntitlementStatus
  /// The answer about the same moment after it; `nil` while it goes on.
  package let found: EntitlementStatus?

  /// A line by its parts.
  package init(
    customer: CustomerKey, entitlement: String, noticedAt: Instant, believed: EntitlementStatus,
    found: EntitlementStatus?
  ) {
    self.customer = customer
    self.entitlement = entitlement
    self.noticedAt = noticedAt
    self.believed = believed
    self.found = found
  }
}

extension Drift {
  /// Where a line stands in its report, which is in the order of customers and entitlements.
  package struct Key: Hashable, Sendable {
    package let customerID: String
    package let entitlement: String

    /// A place by its parts.
    package init(customerID: String, entitlement: String) {
      self.customerID = customerID
      self.entitlement = entitlement
    }
  }

  /// Where this line stands.
  package var key: Key { Key(customerID: customer.customerID, entitlement: entitlement) }
}

/// Until when deliveries of one app in one environment are accounted for.
package struct DeliveryWatermark: Hashable, Sendable {
  /// The service was there to take notifications until then, or a repair made up for it.
  package var completeUntil: Instant
  /// Until when what Apple could not deliver was looked for.
  package var sweptUntil: Instant
  /// When the last notification was delivered; `nil` if none was yet.
  package var lastDelivery: Instant?
  /// Milliseconds that usually lie between two deliveries; `nil` until there were enough to tell.
  package var typicalInterval: Int64?
  /// When Apple was last asked about every purchase; `nil` if never.
  package var askedAboutAllAt: Instant?

  /// A mark for an app that begins at `start`.
  package init(start: Instant) {
    completeUntil = start
    sweptUntil = start
    askedAboutAllAt = start
  }
}
