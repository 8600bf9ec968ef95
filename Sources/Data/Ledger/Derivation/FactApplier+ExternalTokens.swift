internal import AppStore
internal import Entitlements
internal import JSON
internal import Store

// External purchase tokens: Apple announces them and complains about missing reports; the operator reports them.
extension FactApplier {
  /// Stores what a notification states about a token. The order of notifications and reports makes no difference.
  mutating func recordExternalToken(
    _ token: ExternalPurchaseToken?, _ subtype: NotificationSubtype?, at instant: Instant, from source: Source
  ) throws(StoreError) {
    guard let token, let id = token.externalPurchaseId, !id.isEmpty else { return }
    var record =
      try store.externalToken(id, of: source.appID, in: source.environment)
      ?? ExternalTokenRecord(
        id, of: source.appID, in: source.environment, createdAt: token.tokenCreationDate ?? instant,
        evidenceID: source.id)
    if let created = token.tokenCreationDate { record.createdAt = created }
    if let expires = token.tokenExpirationDate { record.expiresAt = expires }
    if let type = token.tokenType { record.tokenType = type.rawValue }
    record.notifiedAt = max(record.notifiedAt ?? instant, instant)
    record.evidenceID = max(record.evidenceID, source.id)
    if subtype == .unreported { record.complainedAt = max(record.complainedAt ?? instant, instant) }
    try store.put(record)
  }

  /// Stores that Apple accepted a report of a token, which need not be known from a notification.
  mutating func recordExternalReport(
    _ call: AppleCall, _ evidence: EvidenceID, of appID: String, in environment: Environment
  ) throws(StoreError) {
    guard call.method == AppleCall.sendExternalPurchaseReport, !call.isRefused,
      let id = call.request["externalPurchaseId"]?.stringValue, !id.isEmpty
    else { return }
    var record =
      try store.externalToken(id, of: appID, in: environment)
      ?? ExternalTokenRecord(id, of: appID, in: environment, createdAt: now, evidenceID: evidence)
    record.evidenceID = max(record.evidenceID, evidence)
    record.reportedAt = max(record.reportedAt ?? now, now)
    record.reportStatus = call.request["status"]?.stringValue ?? ""
    record.requestIdentifier = call.request["requestIdentifier"]?.stringValue ?? ""
    try store.put(record)
  }
}
