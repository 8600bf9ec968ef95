package import AppStore
internal import Bytes
internal import Entitlements
internal import SignedData
package import Store
internal import Telemetry
internal import Tracing

/// A notification as it arrived.
package struct IncomingNotification: Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// The body, byte for byte.
  package let body: [UInt8]
  /// The way by which it arrived.
  package let source: Evidence.Source
  /// When a relay received it, or it arrived the first time; `nil`: when it is written, by the clock of its
  /// environment. A time that has not come counts as now.
  package let receivedAt: Instant?
  /// The statement of another replica that the signatures are valid, from ``EvidenceLedger/seal(_:for:)``.
  package var seal: [UInt8]?
  /// Counts a rejection of this sender, and returns the milliseconds that it has to wait; `nil` if the rejection may be
  /// stored.
  package var rejectionDelay: @Sendable () -> Int64? = { nil }

  /// Creates a notification; its body is stored even if it does not verify.
  package init(appID: String, body: [UInt8], source: Evidence.Source, receivedAt: Instant? = nil) {
    self.appID = appID
    self.body = body
    self.source = source
    self.receivedAt = receivedAt
  }
}

/// The result of a notification. It is durable.
package struct ReceivedNotification: Sendable {
  /// The stored record with its state and reason code.
  package let record: NotificationRecord
  /// Whether it was stored before, so that nothing changed.
  package let isDuplicate: Bool
  /// The owner of the purchase; `nil` while it is unclaimed, and for a notification about no purchase.
  package let customerID: String?
  /// The reason of the rejection for people; empty if it was accepted.
  package var problem = ""
}

// App Store Server Notifications.
extension EvidenceLedger {
  /// Ingests a notification of version 2, given its signed payload. The notification and everything derived
  /// from it are durable on return. A notification that does not verify is stored with the reason.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``; ``LedgerError/notVerifiable(_:)`` and
  ///   ``LedgerError/store(_:)`` if the caller should retry.
  package func ingest(
    _ notification: IncomingNotification, signedPayload: String
  ) async throws(LedgerError) -> ReceivedNotification {
    let app = try app(notification.appID)
    let contents: NotificationContents
    do throws(Rejection) {
      contents = try verified(
        signedPayload, for: app, hasKnownSignatures: isSealed(signedPayload, notification.seal))
    } catch {
      if case .notVerified(.cryptographyFailed(let failure)) = error { throw .notVerifiable(failure) }
      return try await recordRejection(
        notification, as: .notificationV2, reason: error.reason, problem: error.description)
    }
    let catalog = catalog.value
    // Hashed here and not in the body, because there is only one writer.
    let content = EvidenceContent(hashing: notification.body)
    guard case .known(let environment) = contents.payload.origin else {
      return try await recordUnnamed(notification, contents, content, catalog)
    }
    let clock = clocks[environment]
    return try await commit(
      expecting: contents.expectedReads(of: notification.appID, in: environment)
    ) { store throws(StoreError) in
      let evidence = notification.evidence(
        .notificationV2, content, in: environment, .accepted, at: clock.now())
      return try Self.record(contents, as: evidence, in: environment, catalog, store)
    }
  }

  /// Stores a verified notification of an unknown type that names neither app nor environment; it has no effect until a
  /// later version knows it.
  private func recordUnnamed(
    _ notification: IncomingNotification, _ contents: NotificationContents, _ content: EvidenceContent,
    _ catalog: Catalog
  ) async throws(LedgerError) -> ReceivedNotification {
    let clock = clocks[nil]
    return try await write { store throws(StoreError) in
      let now = clock.now()
      let evidence = notification.evidence(.notificationV2, content, in: nil, .accepted, at: now)
      let appended = try store.append(evidence)
      if !appended.isDuplicate {
        var applier = FactApplier(store, catalog: catalog, now: now)
        try applier.apply(contents.items, from: StoredEvidence(appended, evidence))
      }
      guard let record = try store.notification(appended.id) else {
        throw .corrupt("notification without record")
      }
      return ReceivedNotification(record: record, isDuplicate: appended.isDuplicate, customerID: nil)
    }
  }

  /// Verifies a notification of version 2 without storing anything.
  ///
  /// - Returns: the statement that its signatures are valid, for ``IncomingNotification/seal``; `nil` if it does not
  ///   verify.
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``; ``LedgerError/notVerifiable(_:)`` if it is not known.
  package func seal(_ signedPayload: String, for appID: String) throws(LedgerError) -> [UInt8]? {
    let app = try app(appID)
    do throws(Rejection) {
      _ = try verified(signedPayload, for: app)
      return erasures.seal(ofVerified: signedPayload)
    } catch {
      if case .notVerified(.cryptographyFailed(let failure)) = error { throw .notVerifiable(failure) }
      return nil
    }
  }

  /// Whether a replica with the key of this installation made the seal.
  private func isSealed(_ signedPayload: String, _ seal: [UInt8]?) -> Bool {
    guard let seal else { return false }
    return constantTimeEquals(seal, erasures.seal(ofVerified: signedPayload))
  }

  /// An hour: the time after which a sender may try again when the space of a day is used up.
  private static let fullDayDelay: Int64 = 3_600_000

  /// Stores a rejected notification with its reason code, such as `BAD_SIGNATURE`. Rejecting the same body again
  /// stores nothing more. `problem` is the reason for people, and is only returned.
  ///
  /// - Throws: ``LedgerError/tooManyRejections(retryAfterMilliseconds:)`` and ``LedgerError/store(_:)``; nothing is
  ///   stored then.
  package func recordRejection(
    _ notification: IncomingNotification, as kind: Evidence.Kind, reason: String, problem: String
  ) async throws(LedgerError) -> ReceivedNotification {
    try app(notification.appID)
    if let delay = notification.rejectionDelay() {
      LedgerMetrics.recordRejection(of: kind, reason: reason)
      throw .tooManyRejections(retryAfterMilliseconds: delay)
    }
    let (catalog, clock) = (catalog.value, clocks[nil])
    let content = EvidenceContent(hashing: notification.body)
    let received: ReceivedNotification? = try await write { store throws(StoreError) in
      let now = clock.now()
      let evidence = notification.evidence(kind, content, in: nil, .rejected(reason: reason), at: now)
      if notification.source == .notification,
        try !store.hasRoomForRejectedPost(to: notification.appID, at: evidence.receivedAt)
      {
        return nil
      }
      let appended = try store.append(evidence)
      if !appended.isDuplicate {
        var applier = FactApplier(store, catalog: catalog, now: now)
        try applier.apply(
          EvidenceDecoder.decode(evidence), from: StoredEvidence(appended, evidence))
      }
      guard let record = try store.notification(appended.id) else {
        throw .corrupt("notification without record")
      }
      return ReceivedNotification(
        record: record, isDuplicate: appended.isDuplicate, customerID: nil, problem: problem)
    }
    guard let received else {
      LedgerMetrics.recordRejection(of: kind, reason: reason)
      throw .tooManyRejections(retryAfterMilliseconds: Self.fullDayDelay)
    }
    return received
  }

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
      if let request = body.consumptionRequest(record, about: line) { try applier.open(request) }
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

  /// Verifies a payload with the documents inside, and decodes it. All must be of the same app and of one of
  /// its environments.
  func verified(
    _ signedPayload: String, for app: AppDefinition, hasKnownSignatures: Bool = false
  ) throws(Rejection) -> NotificationContents {
    let notification: VerifiedNotification
    do {
      notification = try tracedInline("verify", attributes: ["entitled.document": "notification"]) {
        () throws(NotificationRejection) in
        try verifier.verifyNotification(
          signedPayload, for: app.identity, environments: Set(app.environments),
          hasKnownSignatures: hasKnownSignatures)
      }
    } catch {
      throw .notVerified(error.error)
    }
    do { return try NotificationContents(notification) } catch { throw .incomplete(error) }
  }

  /// Appends a verified notification and derives its consequences, unless its `notificationUUID` is stored.
  private static func record(
    _ contents: NotificationContents, as evidence: Evidence, in environment: Environment,
    _ catalog: Catalog, _ store: any StoreTransaction
  ) throws(StoreError) -> (ReceivedNotification, [LedgerEffect]) {
    let line = LineKey(
      appID: evidence.appID, environment: environment,
      lineID: contents.transaction?.originalTransactionID
        ?? contents.renewal?.originalTransactionID ?? "")
    let uuid = contents.payload.notificationUUID ?? ""
    if !uuid.isEmpty,
      let stored = try store.notification(withUUID: uuid, of: evidence.appID, in: environment)
    {
      let customerID = try store.owners(of: line).first
      return (ReceivedNotification(record: stored, isDuplicate: true, customerID: customerID), [])
    }
    let appended = uuid.isEmpty ? try store.append(evidence) : try store.appendNew(evidence)
    var applier = FactApplier(store, catalog: catalog, now: evidence.recordedAt ?? evidence.receivedAt)
    if !appended.isDuplicate {
      try applier.apply(contents.items, from: StoredEvidence(appended, evidence))
    }
    try applier.linkTokenCustomers()
    // Read before the derivation, which consumes the cache of owners and changes no owner.
    let customerID = try applier.lines.owners(of: line).first
    let derived = try Derivation.run(applier)
    let record = if let new = derived.notification { new } else { try store.notification(appended.id) }
    guard let record else { throw .corrupt("notification without record") }
    return (
      ReceivedNotification(record: record, isDuplicate: appended.isDuplicate, customerID: customerID),
      derived.effects
    )
  }
}

extension IncomingNotification {
  /// The notification as evidence of a write at `now`; `content` is that of its body.
  fileprivate func evidence(
    _ kind: Evidence.Kind, _ content: EvidenceContent, in environment: Environment?,
    _ verdict: Evidence.Verdict, at now: Instant
  ) -> Evidence {
    var evidence = Evidence(
      appID: appID, environment: environment, customerID: nil, kind: kind, source: source,
      receivedAt: min(receivedAt ?? now, now), content: content, verdict: verdict)
    evidence.recordedAt = now
    return evidence
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
    let latest = unifiedReceipt?.latestReceiptInfo?.first {
      $0.originalTransactionId == line.lineID
    }
    return ConsumptionRequestRecord(
      id: record.evidenceID, line: line, transactionID: latest?.transactionId ?? line.lineID,
      productID: latest?.productId ?? "", reason: "", requestedAt: record.receivedAt)
  }
}
