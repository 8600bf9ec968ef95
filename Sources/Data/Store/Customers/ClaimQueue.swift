package import AppStore

/// Keeps the lines that belong to nobody yet, and what may tell whose they are.
package protocol ClaimQueue {
  /// Lets a line wait for its customer; `token` is its `appAccountToken` in lower case.
  func enqueue(_ line: LineKey, token: String?) throws(StoreError)

  /// The line waits no more, if it did.
  func dequeue(_ line: LineKey) throws(StoreError)

  /// The lines that wait and carry this token.
  func unclaimedLines(
    withToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey]

  /// The customer who buys with this token, as far as is known.
  func customerID(
    ofToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> String?

  /// Remembers that the customer buys with this token, unless somebody is known to already.
  func register(token: String, for customer: CustomerKey) throws(StoreError)

  /// The customer that this one was joined into; `nil` if it was not.
  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String?

  /// Remembers that the customer was joined into another one, or, with `nil`, that this was taken back.
  func setMergeTarget(_ mergeTarget: String?, of customer: CustomerKey) throws(StoreError)
}
