internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Calls that are rejected here, because Apple would refuse them.
extension AppStoreServiceHandler {
  /// Rejects a call about a customer who is not the purchaser. Without stored facts, Apple decides.
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

  /// The transaction with the id of the line, or the latest one of the line.
  func latest(of line: LineKey) async throws(Status) -> TransactionFact? {
    try await context.read { reader throws(StoreError) in
      let number = line.lineID
      if let one = try reader.transaction(number, of: line.appID, in: line.environment) { return one }
      return try reader.facts(of: line).transactions.last
    }
  }
}
