internal import AppStore
internal import Ledger
internal import Store

/// The log of Apple's notifications, forwarded byte for byte to a system that runs in parallel.
///
/// It contains verified notifications that Apple or a relay posted, and not those from Apple's history.
struct NotificationSource: MessageSource {
  /// Notifications of other apps are not forwarded.
  let appID: String
  /// Empty for all.
  let environments: Set<Environment>

  /// Reads at most `limit` notifications after `position`; those that the webhook selects become messages, so that a
  /// page may be empty. At the end of the log, the page ends at the last notification of all apps, so that the next
  /// page does not read those again.
  func page(
    after position: Int64, limit: Int, in reader: any StoreSnapshot
  ) throws(StoreError) -> MessagePage {
    let last = try reader.lastNotification()
    let records = try reader.notifications(
      of: appID, after: EvidenceID(rawValue: position), limit: limit)
    let hasMore = records.count == limit
    var page = MessagePage(
      messages: [], end: hasMore ? records.last?.evidenceID.rawValue ?? last : max(last, position),
      hasMore: hasMore)
    for record in records {
      if let message = try message(record, in: reader) { page.messages.append(message) }
    }
    return page
  }

  /// Returns the notification at the evidence id `position` as a message; `nil` if it is not forwarded, or if its body
  /// was purged.
  func message(at position: Int64, in reader: any StoreSnapshot) throws(StoreError) -> OutgoingMessage? {
    guard position > 0 else { return nil }
    let before = EvidenceID(rawValue: position - 1)
    guard let record = try reader.notifications(of: appID, after: before, limit: 1).first,
      record.evidenceID.rawValue == position
    else { return nil }
    return try message(record, in: reader)
  }

  private func message(
    _ record: NotificationRecord, in reader: any StoreSnapshot
  ) throws(StoreError) -> OutgoingMessage? {
    guard record.state != .rejected, accepts(record.environment),
      let evidence = try reader.evidence(record.evidenceID)?.evidence,
      evidence.source == .notification || evidence.source == .relay, let body = evidence.content.body
    else { return nil }
    let line = record.originalTransactionID
    return OutgoingMessage(
      position: record.evidenceID.rawValue, environment: record.environment,
      // A notification without a purchase needs no order.
      subject: line.isEmpty ? "#\(record.evidenceID.rawValue)" : line, type: record.type,
      occurredAt: record.receivedAt, id: "", body: body)
  }

  private func accepts(_ environment: Environment?) -> Bool {
    guard !environments.isEmpty else { return true }
    return environment.map(environments.contains) ?? false
  }
}
