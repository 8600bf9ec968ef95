import AppStore
import Store
import Testing

@testable import Ledger
@testable import Services

/// The metrics of notifications.
@Suite struct NotificationMetricsTests {
  @Test(
    "A notification signed in any year that documents may have is counted",
    arguments: [-377_700_000_000_000, -1, 253_402_300_799_999] as [Int64])
  func lag(signed: Int64) {
    let record = NotificationRecord(
      evidenceID: EvidenceID(rawValue: 1), appID: "ocean", environment: .xcode, version: 2, state: .applied,
      signedDate: Instant(millisecondsSince1970: signed), receivedAt: Instant(millisecondsSince1970: 0))
    NotificationMetrics.count(ReceivedNotification(record: record, isDuplicate: false, customerID: nil))
  }
}
