internal import AppStore
internal import Entitlements
package import Store

// Deliveries of consumables.
extension EvidenceLedger {
  /// Records that units of a consumable purchase were delivered, or taken back after a refund.
  ///
  /// A transaction is delivered once: a repeated id changes nothing, and another id fails unless units are due. A
  /// delivery that crossed with a refund is recorded, and its units are then to be taken back.
  ///
  /// - `units`: The delivered units; negative: taken back; `nil`: the due ones, or the whole quantity for a first
  ///   delivery of a purchase that was refunded meanwhile.
  /// - Returns: the state after the call.
  /// - Throws: ``LedgerError/unknownConsumable(_:)``, ``LedgerError/alreadyFulfilled(transaction:fulfillment:)``.
  package func acknowledgeFulfillment(
    of transactionID: String, as fulfillmentID: String, units: Int64?, _ scope: CommandScope
  ) async throws(LedgerError) -> FulfillmentRecord {
    try check(fulfillmentID, "fulfillment_id")
    let outcome = try await run(scope) { handler throws(LedgerError) in
      try handler.acknowledge(transactionID, as: fulfillmentID, units: units)
    }
    guard let record = outcome.fulfillment else { throw .unknownConsumable(transactionID) }
    return record
  }
}

extension CommandHandler {
  /// Records that units were delivered, or taken back if negative. Without `units`, all that are due. The
  /// same `fulfillmentID` again changes nothing, which makes a repeated delivery safe.
  fileprivate func acknowledge(
    _ transactionID: String, as fulfillmentID: String, units: Int64?
  ) throws(LedgerError) -> CommandResult {
    let appEnvironment = AppEnvironment(appID: appID, environment: environment)
    let (record, steps) = try inStore { () throws(StoreError) in
      (
        try store.fulfillment(of: transactionID, in: appEnvironment),
        try store.fulfillments(of: transactionID, in: appEnvironment)
      )
    }
    guard let record else { throw .unknownConsumable(transactionID) }
    if let known = steps.first(where: { $0.fulfillmentID == fulfillmentID }) {
      guard units == nil || units == known.units else {
        throw .invalid(field: "units", problem: "is not \(known.units), as acknowledged before")
      }
      return CommandResult(fulfillment: record)
    }
    let fulfilled = units ?? (record.due == 0 && steps.isEmpty ? record.quantity : record.due)
    guard fulfilled != 0 || units == nil else { throw .invalid(field: "units", problem: "is 0") }
    let isFirst = steps.isEmpty && (1...max(1, record.quantity)).contains(fulfilled)
    let isDue = fulfilled.signum() == record.due.signum() && fulfilled.magnitude <= record.due.magnitude
    guard fulfilled != 0, isFirst || isDue else {
      throw .alreadyFulfilled(transaction: transactionID, fulfillment: steps.last?.fulfillmentID ?? "")
    }
    var outcome = try execute(
      .fulfill(
        Fulfillment(
          transactionID: transactionID, fulfillmentID: fulfillmentID, units: fulfilled, acknowledgedAt: now),
        line: record.line.lineID), onBehalfOf: nil)
    outcome.fulfillment = try inStore { () throws(StoreError) in
      try store.fulfillment(of: transactionID, in: appEnvironment)
    }
    return outcome
  }
}
