package import AppStore
internal import Entitlements
package import Store

// App Store Server Notifications of version 1, which Apple's API confirms.
extension EvidenceLedger {
  /// Stores a notification of version 1, or its later state; `reason` states why it is still unconfirmed. A
  /// confirmed notification does not change. Durable on return.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func recordV1(
    _ notification: IncomingNotification, _ body: ResponseBodyV1, in environment: Environment,
    state: NotificationState, reason: String
  ) async throws(LedgerError) -> ReceivedNotification {
    let (catalog, clock) = (catalog.value, clocks[environment])
    let content = EvidenceContent(hashing: notification.body)
    return try await commit { store throws(StoreError) in
      let now = clock.now()
      let evidence = notification.evidence(.notificationV1, content, in: environment, .accepted, at: now)
      let appended = try store.append(evidence)
      let stored = try store.notification(appended.id)
      let id = body.purchaseID ?? ""
      let line = LineKey(appID: evidence.appID, environment: environment, lineID: id)
      let customerID = try store.owners(of: line).first
      if let stored, stored.state != .unconfirmed {
        return (ReceivedNotification(record: stored, isDuplicate: true, customerID: customerID), [])
      }
      let record = NotificationRecord(
        evidenceID: appended.id, appID: evidence.appID, environment: environment, version: 1,
        type: body.notificationType?.rawValue ?? "", state: state, reason: reason, meaning: body.meaning,
        receivedAt: stored?.receivedAt ?? evidence.receivedAt, originalTransactionID: id)
      try store.put(record)
      var applier = FactApplier(store, catalog: catalog, now: now)
      if let request = body.consumptionRequest(record, about: line) {
        try applier.open(request, isDated: false)
      }
      if body.notificationType == .refund, record.state == .applied || record.state == .superseded {
        try applier.settleConsumptionRequests(
          decidedAt: evidence.receivedAt, about: "", of: line, appended.id)
      }
      let derived = try Derivation.run(applier)
      return (
        ReceivedNotification(record: record, isDuplicate: false, customerID: customerID), derived.effects
      )
    }
  }
}

extension ResponseBodyV1 {
  /// The consumption request that the notification makes, once Apple confirmed it.
  fileprivate func consumptionRequest(
    _ record: NotificationRecord, about line: LineKey
  ) -> ConsumptionRequestRecord? {
    guard notificationType == .consumptionRequest, record.state == .applied || record.state == .superseded,
      !line.lineID.isEmpty
    else { return nil }
    let latest = unifiedReceipt?.latestReceiptInfo?.filter { $0.originalTransactionId == line.lineID }.latest
    return ConsumptionRequestRecord(
      id: record.evidenceID, line: line, transactionID: latest?.transactionId ?? line.lineID,
      productID: latest?.productId ?? "", reason: "", requestedAt: record.receivedAt)
  }
}
