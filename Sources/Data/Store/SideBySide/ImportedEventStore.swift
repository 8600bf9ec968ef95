package import AppStore
package import CustomerImport
package import Entitlements

/// An event of RevenueCat's webhooks as it arrived.
package struct ImportedEvent: Hashable, Sendable {
  /// RevenueCat's id of the event; a repeated delivery has the same.
  package let eventID: String
  /// The operator's name for the app.
  package let appID: String
  /// RevenueCat's `environment`: sandbox or production.
  package let environment: Environment
  /// Such as `RENEWAL`.
  package let type: String
  /// RevenueCat's `event_timestamp_ms`.
  package let occurredAt: Instant
  /// By the system's clock.
  package let receivedAt: Instant
  /// All customers that the event names, each once. The limit of the body limits them too.
  package let customerIDs: [String]
  /// The one of them whose event it is; `nil` without one. Only such a customer has statements to compare.
  package let customerID: String?
  /// The purchase in its store; `nil` if the event names none.
  package let purchase: String?
  /// The body of the webhook.
  package let body: [UInt8]

  /// Creates an event of an app from its parsed body.
  package init(_ event: RevenueCatEvent, of appID: String, receivedAt: Instant, body: [UInt8]) {
    eventID = event.id
    self.appID = appID
    environment = event.isSandbox ? .sandbox : .production
    type = event.type
    occurredAt = event.occurredAt
    self.receivedAt = receivedAt
    customerIDs = event.allCustomerIDs
    customerID = event.customerID
    purchase = event.purchase
    self.body = body
  }
}

/// A customer whose access is to be compared. Each customer of a stored event has one.
package struct PendingComparison: Hashable, Sendable {
  /// The customer.
  package let customer: CustomerKey
  /// The number of events so far, which shows whether another one arrived during a comparison.
  package let events: Int64

  /// Creates a comparison from its parts.
  package init(customer: CustomerKey, events: Int64) {
    self.customer = customer
    self.events = events
  }
}

/// A disagreement about a customer's access to an entitlement that is open, with both sides at the last comparison.
package struct OpenDisagreement: Hashable, Sendable {
  /// The customer of the disagreement.
  package let customer: CustomerKey
  package let entitlement: String
  /// The side that grants access.
  package let kind: AccessDisagreement
  /// When it was found first.
  package let detectedAt: Instant
  /// The time of both sides.
  package let checkedAt: Instant
  /// When access ends or ended in RevenueCat; `nil`: it does not end.
  package let statedUntil: Instant?
  /// The event that decides there.
  package let eventID: String
  /// The reason of the answer here.
  package let reason: EntitlementReason
  /// When access ends or ended here; `nil`: it does not end, or there was none.
  package let until: Instant?
  /// The evidence of the answer here.
  package let evidenceID: EvidenceID?

  /// Creates a disagreement from its parts.
  package init(
    customer: CustomerKey, entitlement: String, kind: AccessDisagreement, detectedAt: Instant,
    checkedAt: Instant, statedUntil: Instant?, eventID: String, reason: EntitlementReason, until: Instant?,
    evidenceID: EvidenceID?
  ) {
    self.customer = customer
    self.entitlement = entitlement
    self.kind = kind
    self.detectedAt = detectedAt
    self.checkedAt = checkedAt
    self.statedUntil = statedUntil
    self.eventID = eventID
    self.reason = reason
    self.until = until
    self.evidenceID = evidenceID
  }
}

/// Selects open disagreements of an app in one environment, the one that is open for the longest time first.
package struct DisagreementFilter: Hashable, Sendable {
  package var appID: String
  package var environment: Environment
  /// `nil`: all.
  package var customerID: String?
  /// The last disagreement of the previous page.
  package var after: Position?
  /// The maximum number of disagreements; at least 1.
  package var limit: Int

  /// A place in the order of the list.
  package struct Position: Hashable, Sendable {
    /// The order is by this, then by customer and entitlement.
    package let detectedAt: Instant
    package let customerID: String
    package let entitlement: String

    /// Creates a position from its parts.
    package init(detectedAt: Instant, customerID: String, entitlement: String) {
      self.detectedAt = detectedAt
      self.customerID = customerID
      self.entitlement = entitlement
    }
  }

  /// Selects the first `limit` disagreements.
  package init(appID: String, environment: Environment, limit: Int) {
    self.appID = appID
    self.environment = environment
    self.limit = limit
  }
}

/// Stores RevenueCat's events and the results of comparisons.
package protocol ImportedEventStore {
  /// Inserts an event, and requests a comparison of its customer. Returns `false` and changes nothing if an event with this
  /// id is stored.
  func insert(_ event: ImportedEvent) throws(StoreError) -> Bool

  /// Whether an event names the customer.
  func hasImportedEvents(naming customer: CustomerKey) throws(StoreError) -> Bool

  /// Replaces the open disagreements of customers, unless they are `nil`, and sets the time of their next comparison; `nil`:
  /// there is none. A customer keeps both if another event of it arrived since, or if it was erased.
  func settle(
    _ comparisons: [PendingComparison], _ disagreements: [OpenDisagreement]?, next: Instant?
  ) throws(StoreError)

  /// Deletes at most `limit` events of an app that arrived before `instant`; returns their number.
  func deleteImportedEvents(
    of appID: String, receivedBefore instant: Instant, limit: Int
  ) throws(StoreError) -> Int
}

/// Reads RevenueCat's events and open disagreements.
package protocol ImportedEventReader {
  /// Returns the body of the event with this id; `nil` if it is not stored.
  func importedEvent(
    _ eventID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [UInt8]?

  /// Returns the ids of at most `limit` events that name a customer, the latest first.
  func importedEventIDs(naming customer: CustomerKey, limit: Int) throws(StoreError) -> [String]

  /// Returns the ids of at most `limit` events about a purchase, the latest first.
  func importedEventIDs(
    aboutPurchase purchase: String, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [String]

  /// Returns the comparison of a customer; `nil` if there is none.
  func comparison(of customer: CustomerKey) throws(StoreError) -> PendingComparison?

  /// Returns at most `limit` comparisons that are due by `instant`, the longest overdue first.
  func comparisons(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [PendingComparison]

  /// Returns the time of the next comparison; `nil` if none is due.
  func nextComparison(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns the open disagreements that match.
  func openDisagreements(_ query: DisagreementFilter) throws(StoreError) -> [OpenDisagreement]

  /// Returns when the open disagreement about a customer's access to an entitlement was found; `nil` if there is none.
  func detectionTime(
    ofDisagreementAbout entitlement: String, of customer: CustomerKey
  ) throws(StoreError) -> Instant?

  /// Returns the apps that have events, also those that are not configured any more.
  func appsWithImportedEvents() throws(StoreError) -> [String]

  /// Returns the number of open disagreements of each app and environment that has any.
  func openDisagreementCounts() throws(StoreError) -> [OpenCount]
}
