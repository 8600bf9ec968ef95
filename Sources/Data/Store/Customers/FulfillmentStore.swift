package import AppStore

/// The delivery of one consumable purchase: the units that the customer should have, and those that the operator
/// acknowledged.
package struct FulfillmentRecord: Hashable, Sendable {
  /// The purchase.
  package let line: LineKey
  /// Apple's `transactionId`.
  package let transactionID: String
  /// The App Store product id.
  package let productID: String
  /// The purchased units.
  package let quantity: Int64
  /// The purchased units less the refunded ones.
  package let target: Int64
  /// The units that were delivered less those that were taken back.
  package let fulfilled: Int64
  /// Apple's `purchaseDate`.
  package let purchaseDate: Instant

  /// Creates a record from its parts.
  package init(
    line: LineKey, transactionID: String, productID: String, quantity: Int64, target: Int64,
    fulfilled: Int64, purchaseDate: Instant
  ) {
    self.line = line
    self.transactionID = transactionID
    self.productID = productID
    self.quantity = quantity
    self.target = target
    self.fulfilled = fulfilled
    self.purchaseDate = purchaseDate
  }

  /// The units to deliver; negative: to take back; 0: nothing is to be done.
  package var due: Int64 { target - fulfilled }
}

/// One acknowledged delivery, or one acknowledged take-back.
package struct Fulfillment: Hashable, Sendable {
  /// Apple's `transactionId`.
  package let transactionID: String
  /// The operator's id of the delivery, distinct for the deliveries of one transaction.
  package let fulfillmentID: String
  /// The delivered units; negative: units that were taken back.
  package let units: Int64
  /// By the service's clock.
  package let acknowledgedAt: Instant

  /// Creates a fulfillment from its parts.
  package init(transactionID: String, fulfillmentID: String, units: Int64, acknowledgedAt: Instant) {
    self.transactionID = transactionID
    self.fulfillmentID = fulfillmentID
    self.units = units
    self.acknowledgedAt = acknowledgedAt
  }
}

/// Selects purchases with units to deliver or to take back.
package struct UnfulfilledFilter: Hashable, Sendable {
  /// The app and the environment to search.
  package var appEnvironment: AppEnvironment
  /// Only purchases of this customer; `nil`: of all.
  package var customerID: String?
  /// Only purchases from this instant on; `nil`: all.
  package var boughtSince: Instant?
  /// Only transaction ids after this one.
  package var after: String
  /// The maximum number of purchases; at least 1.
  package var limit: Int

  /// Selects the first `limit` purchases of an app in one environment.
  package init(appEnvironment: AppEnvironment, limit: Int) {
    self.appEnvironment = appEnvironment
    self.limit = limit
    after = ""
  }
}

/// Stores the delivery of consumables.
package protocol FulfillmentStore {
  /// Inserts or replaces what a consumable purchase should have delivered; the fulfilled units stay.
  func put(_ record: FulfillmentRecord) throws(StoreError)

  /// Returns the record of a transaction; `nil` if it is no consumable purchase that is stored.
  func fulfillment(
    of transactionID: String, in appEnvironment: AppEnvironment
  ) throws(StoreError) -> FulfillmentRecord?

  /// Returns the acknowledged fulfillments of a transaction, oldest first.
  func fulfillments(
    of transactionID: String, in appEnvironment: AppEnvironment
  ) throws(StoreError) -> [Fulfillment]

  /// Appends a fulfillment, unless one with its id exists, and adds its units to the record.
  func append(
    _ fulfillment: Fulfillment, in appEnvironment: AppEnvironment, from evidence: EvidenceID
  ) throws(StoreError)
}
