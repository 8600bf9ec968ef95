package import AppStore

/// Keeps when time alone changes something.
package protocol ExpiryStore {
  /// At most `limit` customers of whom an answer changes by `now` without news, those who wait longest
  /// first.
  func due(by now: Instant, limit: Int) throws(StoreError) -> [CustomerKey]

  /// At most `limit` customers of an app whose answers were worked out under another catalog.
  func customers(
    of appID: String, toldUnderOtherThan fingerprint: UInt64, after customer: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerKey]

  /// The fingerprint under which all customers of an app were told their answers; `nil` if not known.
  func fingerprint(toldToAllOf appID: String) throws(StoreError) -> UInt64?

  /// Remembers that all customers of an app have been told their answers under a fingerprint.
  func setFingerprint(_ fingerprint: UInt64, toldToAllOf appID: String) throws(StoreError)
}
