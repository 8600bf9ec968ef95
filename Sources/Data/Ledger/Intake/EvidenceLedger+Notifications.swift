internal import AppStore
internal import Bytes
internal import Entitlements
internal import SignedData
package import Store
internal import Telemetry
internal import Tracing

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
      var (received, effects) = try Self.record(contents, as: evidence, in: environment, catalog, store)
      if let extra = notification.extra {
        try extra(store)
        received.includesExtra = true
      }
      return (received, effects)
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
      let evidence = notification.evidence(.notificationV2, content, in: nil, .accepted, at: clock.now())
      return try Self.append(evidence, applying: contents.items, catalog, store)
    }
  }

  /// Appends the evidence of a notification about no customer, and returns its record. `items` are applied unless the
  /// evidence is stored already.
  private static func append(
    _ evidence: Evidence, applying items: @autoclosure () -> [DecodedItem], _ catalog: Catalog,
    _ store: any StoreTransaction
  ) throws(StoreError) -> ReceivedNotification {
    let appended = try store.append(evidence)
    if !appended.isDuplicate {
      var applier = FactApplier(store, catalog: catalog, now: evidence.recordedAt ?? evidence.receivedAt)
      try applier.apply(items(), from: StoredEvidence(appended, evidence))
    }
    guard let record = try store.notification(appended.id) else {
      throw .corrupt("notification without record")
    }
    return ReceivedNotification(record: record, isDuplicate: appended.isDuplicate, customerID: nil)
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
      let evidence = notification.evidence(
        kind, content, in: nil, .rejected(reason: reason), at: clock.now())
      if notification.source == .notification,
        try !store.hasRoomForRejectedPost(to: notification.appID, at: evidence.receivedAt)
      {
        return nil
      }
      return try Self.append(evidence, applying: EvidenceDecoder.decode(evidence), catalog, store)
    }
    guard var received else {
      LedgerMetrics.recordRejection(of: kind, reason: reason)
      throw .tooManyRejections(retryAfterMilliseconds: Self.fullDayDelay)
    }
    received.problem = problem
    return received
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
