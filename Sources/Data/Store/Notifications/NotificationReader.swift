package import AppStore

/// Reads which notifications arrived, in the order in which they did.
package protocol NotificationReader: AnyObject {
  /// At most `limit` notifications of an app in the order of their arrival, beginning behind `evidence`.
  func notifications(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord]

  /// The number of the last notification's evidence, whosever it is; 0 if there is none.
  func lastNotification() throws(StoreError) -> Int64

  /// At most `limit` purchase lines of which notifications that were not rejected told, received from a moment
  /// on and before another, in the order of their numbers, beginning behind `line`.
  func notifiedLines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// At most `limit` notifications about a line that were not rejected, received from a moment on and before
  /// another, in the order of their arrival.
  func notifications(
    about line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord]
}
