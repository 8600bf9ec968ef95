internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

// What notifications say, and what becomes of them.
extension Derivation {
  /// Takes in the documents inside a notification, and remembers whether they brought anything new.
  func take(_ contents: NotificationContents, from evidence: StoredEvidence) throws(StoreError) {
    let before = newFacts
    let testimonies = contents.testimonies
    for testimony in testimonies { try apply(testimony, of: evidence) }
    let hasNewEvidence = testimonies.isEmpty || newFacts > before
    try release(claimedAs: contents.payload.unclaimInfo?.unclaimSeatIds ?? [], contents, evidence)
    let state: NotificationState =
      !contents.isUnderstood ? .unsupported : hasNewEvidence ? .applied : .superseded
    try put(contents.record(of: evidence, state: state))
    try open(askedBy: contents, evidence)
  }

  /// Ends the claims that Apple ended (`UNCLAIM_SEATS`).
  private func release(
    claimedAs claims: [String], _ contents: NotificationContents, _ evidence: StoredEvidence
  ) throws(StoreError) {
    guard let environment = evidence.evidence.environment else { return }
    let appID = evidence.evidence.appID
    let moment = contents.payload.signedDate ?? evidence.evidence.receivedAt
    for claim in claims {
      guard let seat = try store.seat(claimedAs: claim, of: appID, in: environment) else { continue }
      let line = LineKey(appID: appID, environment: environment, originalTransactionID: seat.seatID)
      try release([line], at: moment, by: Origin(cause: .evidence, evidence: evidence.id))
    }
  }

  /// Remembers that a notification came which is not to be believed; other evidence leaves no trace here.
  func note(rejected evidence: StoredEvidence) throws(StoreError) -> ClaimResult? {
    guard evidence.evidence.kind.isNotification, case .rejected(let reason) = evidence.evidence.verdict else {
      return nil
    }
    try put(
      NotificationRecord(
        evidenceID: evidence.id, appID: evidence.evidence.appID,
        environment: evidence.evidence.environment,
        version: evidence.evidence.kind == .notificationV1 ? 1 : 2, state: .rejected, reason: reason,
        receivedAt: evidence.evidence.receivedAt))
    return nil
  }
}
