package import AppStore
internal import Entitlements
internal import SignedData
package import Store

/// A notification as it arrived.
package struct IncomingNotification: Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// The body, exactly as Apple sent it.
  package let body: [UInt8]
  /// The way by which it came.
  package let source: Evidence.Source
  /// When it came.
  package let receivedAt: Instant

  /// A notification by its parts.
  package init(appID: String, body: [UInt8], source: Evidence.Source, receivedAt: Instant) {
    self.appID = appID
    self.body = body
    self.source = source
    self.receivedAt = receivedAt
  }
}

/// What became of a notification. It is durable.
package struct ReceivedNotification: Sendable {
  package let record: NotificationRecord
  /// It came before; nothing changed.
  package let isDuplicate: Bool
  /// Whose purchase it is about; `nil` while nobody has claimed it, or if it is about none.
  package let customerID: String?
  /// Why it was rejected, in a sentence; empty if it was not.
  package var problem = ""
}

// Notifications, which come on nobody's behalf.
extension EvidenceLedger {
  /// Takes in a notification of version 2, given its signed payload. When this returns it is durable, with
  /// all that follows from it. One that is not to be believed is kept with its reason.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``; ``LedgerError/notVerifiable(_:)`` and
  ///   ``LedgerError/store(_:)`` if trying again may help.
  package func ingest(
    _ notification: IncomingNotification, signedPayload: String
  ) async throws(LedgerError) -> ReceivedNotification {
    let app = try app(notification.appID)
    let contents: NotificationContents
    do throws(Rejection) {
      contents = try verified(signedPayload, for: app)
    } catch {
      if case .notVerified(.cryptographyFailed(let failure)) = error { throw .notVerifiable(failure) }
      return try await recordRejection(
        notification, as: .notificationV2, reason: error.reason, problem: error.description)
    }
    guard case .known(let environment) = contents.payload.origin else {
      return try await recordRejection(
        notification, as: .notificationV2, reason: "WRONG_ENVIRONMENT",
        problem: "the notification names no environment")
    }
    let catalog = catalog.value
    // Made here, since the writer is one for all.
    let evidence = notification.evidence(.notificationV2, in: environment, .accepted)
    return try await write { store throws(StoreError) in
      try Self.record(contents, as: evidence, in: environment, catalog, store)
    }
  }

  /// Keeps a notification that is not to be believed.
  package func recordRejection(
    _ notification: IncomingNotification, as kind: Evidence.Kind, reason: String, problem: String
  ) async throws(LedgerError) -> ReceivedNotification {
    let evidence = notification.evidence(kind, in: nil, .rejected(reason: reason))
    let catalog = catalog.value
    return try await write { store throws(StoreError) in
      let kept = try store.append(evidence)
      let derivation = Derivation(store, catalog: catalog, now: notification.receivedAt)
      if !kept.isDuplicate {
        try derivation.apply(.nothing, of: StoredEvidence(id: kept.id, evidence: evidence))
      }
      guard let record = try store.notification(kept.id) else {
        throw .corrupt("a notification is kept without its record")
      }
      return ReceivedNotification(
        record: record, isDuplicate: kept.isDuplicate, customerID: nil, problem: problem)
    }
  }

  /// Keeps a notification of version 1, or what became of it since; `reason` says why it still waits.
  package func recordV1(
    _ notification: IncomingNotification, _ body: ResponseBodyV1, in environment: Environment,
    state: NotificationState, reason: String
  ) async throws(LedgerError) -> ReceivedNotification {
    let evidence = notification.evidence(.notificationV1, in: environment, .accepted)
    let catalog = catalog.value
    return try await write { store throws(StoreError) in
      let kept = try store.append(evidence)
      let known = try store.notification(kept.id)
      let number = body.lineID ?? ""
      let line = LineKey(appID: evidence.appID, environment: environment, originalTransactionID: number)
      let record = NotificationRecord(
        evidenceID: kept.id, appID: evidence.appID, environment: environment, version: 1,
        type: body.notificationType?.rawValue ?? "", state: state, reason: reason, meaning: body.meaning,
        receivedAt: known?.receivedAt ?? notification.receivedAt, originalTransactionID: number)
      let isSettled = known.map { $0.state != .unconfirmed } ?? false
      if !isSettled {
        try store.put(record)
        let derivation = Derivation(store, catalog: catalog, now: notification.receivedAt)
        if let inquiry = body.inquiry(asked: record, about: line) { try derivation.open(inquiry) }
      }
      return ReceivedNotification(
        record: isSettled ? known ?? record : record, isDuplicate: isSettled,
        customerID: try store.owners(of: line).first)
    }
  }

  func verified(
    _ signedPayload: String, for app: AppDefinition
  ) throws(Rejection) -> NotificationContents {
    let notification: VerifiedNotification
    do {
      notification = try verifier.verifyNotification(
        signedPayload, for: app.identity, environments: Set(app.environments))
    } catch {
      throw .notVerified(error.error)
    }
    do { return try NotificationContents(notification) } catch { throw .incomplete(error) }
  }

  private static func record(
    _ contents: NotificationContents, as evidence: Evidence, in environment: Environment,
    _ catalog: Catalog, _ store: any StoreTransaction
  ) throws(StoreError) -> ReceivedNotification {
    let line = LineKey(
      appID: evidence.appID, environment: environment,
      originalTransactionID: contents.transaction?.originalTransactionID
        ?? contents.renewal?.originalTransactionID ?? "")
    let uuid = contents.payload.notificationUUID ?? ""
    if !uuid.isEmpty,
      let known = try store.notification(withUUID: uuid, of: evidence.appID, in: environment)
    {
      return ReceivedNotification(
        record: known, isDuplicate: true, customerID: try store.owners(of: line).first)
    }
    let kept =
      uuid.isEmpty
      ? try store.append(evidence)
      : AppendedEvidence(id: try store.appendNew(evidence), isDuplicate: false)
    let derivation = Derivation(store, catalog: catalog, now: evidence.receivedAt)
    if !kept.isDuplicate {
      try derivation.apply(
        .notification(contents), of: StoredEvidence(id: kept.id, evidence: evidence))
      try derivation.finish()
    }
    let known = if let told = derivation.notification { told } else { try store.notification(kept.id) }
    guard let record = known else {
      throw .corrupt("a notification is kept without its record")
    }
    return ReceivedNotification(
      record: record, isDuplicate: kept.isDuplicate, customerID: try derivation.owners(of: line).first)
  }
}

extension IncomingNotification {
  fileprivate func evidence(
    _ kind: Evidence.Kind, in environment: Environment?, _ verdict: Evidence.Verdict
  ) -> Evidence {
    Evidence(
      appID: appID, environment: environment, customerID: nil, kind: kind, source: source,
      receivedAt: receivedAt, content: EvidenceContent(hashing: body), verdict: verdict)
  }
}

extension ResponseBodyV1 {
  /// What it asks, once Apple confirmed it.
  fileprivate func inquiry(asked record: NotificationRecord, about line: LineKey) -> ConsumptionRequestRecord?
  {
    guard notificationType == .consumptionRequest, record.state == .applied || record.state == .superseded,
      !line.originalTransactionID.isEmpty
    else { return nil }
    let latest = unifiedReceipt?.latestReceiptInfo?.first {
      $0.originalTransactionId == line.originalTransactionID
    }
    return ConsumptionRequestRecord(
      id: record.evidenceID, line: line, transactionID: latest?.transactionId ?? line.originalTransactionID,
      productID: latest?.productId ?? "", reason: "", requestedAt: record.receivedAt)
  }

  /// The purchase line that it is about. Notifications about one-time purchases name it only in the receipt.
  package var lineID: String? {
    originalTransactionId ?? unifiedReceipt?.latestReceiptInfo?.first?.originalTransactionId
  }
}
