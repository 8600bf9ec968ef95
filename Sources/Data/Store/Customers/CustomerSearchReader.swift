package import AppStore
package import Entitlements

/// Finds rows by an id in all apps and environments, for people who do not know whose id they have.
package protocol CustomerSearchReader {
  /// Returns at most `limit` customers after `last` whose id begins with `prefix` and that `isIncluded` accepts, ordered
  /// by the bytes of the id; `nil` begins. A customer is one that any evidence, link, token, merge or event names.
  func customers(
    startingWith prefix: String, after last: CustomerKey?, limit: Int, where isIncluded: (CustomerKey) -> Bool
  ) throws(StoreError) -> [CustomerKey]

  /// Returns the customers that are bound to an `appAccountToken` in lower case.
  func customers(withToken token: String) throws(StoreError) -> [CustomerKey]

  /// Returns the unclaimed purchases that were made with an `appAccountToken` in lower case.
  func unclaimedLines(withToken token: String) throws(StoreError) -> [LineKey]

  /// Returns the lines with this id that have transactions or renewal infos.
  func lines(withID lineID: String) throws(StoreError) -> [LineKey]

  /// Returns the transactions with this `transactionId`, with their lines.
  func transactions(withID transactionID: String) throws(StoreError) -> [FoundTransaction]

  /// Returns the transactions with this `webOrderLineItemId`, with their lines.
  func transactions(withLineItem lineItem: String) throws(StoreError) -> [FoundTransaction]

  /// Returns the purchases that were made through an app install, identified by `appTransactionId`, and the line of the
  /// install itself.
  func lines(withAppTransactionID appTransactionID: String) throws(StoreError) -> [LineKey]

  /// Returns at most `limit` events of a customer with a lower sequence than `sequence`, latest first; `nil` begins with
  /// the last event.
  func events(
    of customer: CustomerKey, before sequence: Int64?, limit: Int
  ) throws(StoreError) -> [StoredEvent]

  /// Returns at most `limit` customers of an app in one environment that are marked as contradictory, after `last`; `nil`
  /// begins. The order is the store's own.
  func contradictoryCustomers(
    of appID: String, in environment: Environment, after last: String?, limit: Int
  ) throws(StoreError) -> [CustomerKey]

  /// Returns the ownership history of a line, oldest first.
  func ownershipChanges(ofLine line: LineKey) throws(StoreError) -> [OwnershipChange]

  /// Returns the pending call to Apple about a line; `nil` if there is none.
  func pendingRefresh(of line: LineKey) throws(StoreError) -> PendingRefresh?

  /// Returns the time of the next status poll of a line; `nil` if none is scheduled.
  func nextPoll(of line: LineKey) throws(StoreError) -> Instant?

  /// Returns the lines of grants and seats with this id.
  func grantsAndSeats(withID lineID: String) throws(StoreError) -> [LineKey]

  /// Returns the notifications with this `notificationUUID` that were not rejected.
  func notifications(withUUID uuid: String) throws(StoreError) -> [NotificationRecord]

  /// Returns at most `limit` customers with an attribute of this value that `isIncluded` accepts, ordered by the bytes of
  /// the id; of any name if `name` is `nil`.
  func customers(
    withAttribute name: String?, value: String, limit: Int, where isIncluded: (CustomerKey) -> Bool
  ) throws(StoreError) -> [(customer: CustomerKey, name: String)]
}

/// A transaction with the line that it belongs to.
package struct FoundTransaction: Hashable, Sendable {
  /// The purchase of the transaction.
  package let line: LineKey
  package let fact: TransactionFact

  package init(line: LineKey, fact: TransactionFact) {
    self.line = line
    self.fact = fact
  }
}
