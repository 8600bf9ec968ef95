internal import AppStore
internal import SQLite
internal import Store

// Which notifications arrived.
extension SQLiteTransaction {
  func notification(
    withUUID uuid: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> NotificationRecord? {
    try notification.notification(withUUID: uuid, of: appID, in: environment)
  }

  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord? {
    try notification.notification(evidence)
  }

  func put(_ notification: NotificationRecord) throws(StoreError) {
    try self.notification.put(notification)
  }
}
