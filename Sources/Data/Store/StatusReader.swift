package import AppStore

/// Reads the state of the store for operators. Cheap enough for a page that a person reloads.
package protocol StatusReader {
  /// Returns the arrival time of the last notification that was not rejected; `nil` if there is none among the latest
  /// 100,000 notifications of all apps.
  func lastNotification(
    of appID: String, in environment: Environment
  ) throws(StoreError) -> Instant?

  /// Returns the id of the last piece of evidence; 0 if there is none.
  func lastEvidence() throws(StoreError) -> Int64

  /// Returns the size of the database file in bytes.
  func size() throws(StoreError) -> Int64
}
