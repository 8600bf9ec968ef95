internal import AppStore
internal import Ledger
internal import Store

/// The log of Apple's notifications, forwarded byte for byte to a system that runs in parallel. One that identified an
/// erased customer is sent as the erasure left it.
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
      end: hasMore ? records.last?.evidenceID.rawValue ?? last : max(last, position),
      hasMore: hasMore)
    for record in records {
      guard let evidence = try forwarded(record, in: reader) else { continue }
      let delivery = delivery(record)
      page.deliveries.append(
        evidence.content.body == nil ? delivery.deadLetter(Delivery.notStored) : delivery)
    }
    return page
  }

  func selects(_ delivery: Delivery) -> Bool { accepts(delivery.environment) }

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
    guard let body = try forwarded(record, in: reader)?.content.body else { return nil }
    let delivery = delivery(record)
    return OutgoingMessage(
      position: delivery.position, environment: delivery.environment, subject: delivery.subject,
      type: delivery.type, occurredAt: delivery.occurredAt, id: "", body: body)
  }

  /// Returns the evidence of a notification that is forwarded; `nil` if it is not.
  private func forwarded(
    _ record: NotificationRecord, in reader: any StoreSnapshot
  ) throws(StoreError) -> Evidence? {
    guard record.state != .rejected, accepts(record.environment),
      let evidence = try reader.evidence(record.evidenceID)?.evidence,
      evidence.source == .notification || evidence.source == .relay
    else { return nil }
    return evidence
  }

  /// The delivery of a notification before its first attempt. One without a purchase needs no order.
  private func delivery(_ record: NotificationRecord) -> Delivery {
    let (position, line) = (record.evidenceID.rawValue, record.originalTransactionID)
    return Delivery(
      position: position, environment: record.environment, subject: line.isEmpty ? "#\(position)" : line,
      type: record.type, occurredAt: record.receivedAt, dueAt: nil)
  }

  private func accepts(_ environment: Environment?) -> Bool {
    guard !environments.isEmpty else { return true }
    return environment.map(environments.contains) ?? false
  }
}
