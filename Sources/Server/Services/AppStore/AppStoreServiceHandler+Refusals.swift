internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Calls that are rejected here, because Apple would refuse them.
extension AppStoreServiceHandler {
  /// Rejects a call about customers other than the purchaser, with the error code of Apple. If the store has no facts,
  /// the call goes to Apple.
  ///
  /// - Throws: `FAILED_PRECONDITION` with the reason `NOT_THE_PURCHASER`.
  func refuse(
    _ refused: DisallowedCall.Call, about transactionID: String, _ appID: String,
    _ environment: Wire.Environment
  ) async throws(Status) {
    let app = try context.catalog.value.app(appID)
    let line = LineKey(
      appID: app.id, environment: try app.environment(environment), lineID: transactionID)
    guard let refusal = try await latest(of: line).flatMap({ DisallowedCall(refused, about: $0) }) else {
      return
    }
    let code = [("appleErrorCode", String(refusal.appleCode.rawValue))]
    throw Status(
      .failedPrecondition, reason: "NOT_THE_PURCHASER", refusal.description,
      metadata: code + [("appleError", refusal.appleName)])
  }

  /// The transaction whose id is that of `line`, or the latest one of the purchase with this id; `nil` if the store has
  /// neither. Requests name a purchase by any of its transactions.
  func latest(of line: LineKey) async throws(Status) -> TransactionFact? {
    try await context.read { reader throws(StoreError) in
      let number = line.lineID
      if let one = try reader.transaction(number, of: line.appID, in: line.environment) { return one }
      return try reader.facts(of: line).transactions.last
    }
  }
}
