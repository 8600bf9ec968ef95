package import AppStore

/// Reads the state of the store for operators. Cheap enough for a page that a person reloads.
package protocol StatusReader {
  /// Returns the arrival time of the last notification that was not rejected; `nil` if there is none among the latest
  /// 100,000 notifications of all apps.
  func lastNotification(
    of appID: String, in environment: Environment
  ) throws(StoreError) -> Instant?

  /// Returns the time between the signed date and the arrival of the notifications of an app environment, in
  /// milliseconds, at most `limit`, among the latest 10,000 notifications of all apps. Rejected ones are left out.
  func notificationDelays(
    of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [Int64]

  /// Returns the id of the last piece of evidence; 0 if there is none.
  func lastEvidence() throws(StoreError) -> Int64

  /// Returns the size of the database file in bytes.
  func size() throws(StoreError) -> Int64
}
