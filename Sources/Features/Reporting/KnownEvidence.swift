internal import AppStore
internal import Ledger
internal import Reports
internal import Store

/// The withdrawals of the consent of an app install and their settlements, as they became known. Reports of a closed
/// day count only what was known at its closing.
struct KnownConsents {
  private let line: LineKey
  private let changes: [ConsentChange]

  /// Reads the changes of an install; settlements count only if the operator commanded them.
  init(ofInstall line: LineKey, in store: any StoreTransaction) throws(StoreError) {
    self.line = line
    changes = try store.consentChanges(ofInstall: line, settledBy: .operatorCommand)
  }

  /// The withdrawals that were known when the evidence `last` was stored; `nil`: all.
  func consents(through last: EvidenceID?) -> [WithdrawnConsent] {
    let known = changes.filter { change in last.map { change.evidenceID <= $0 } ?? true }
    return WithdrawnConsent.all(
      ofLine: line.lineID, withdrawals: known.filter { !$0.isSettlement }.map(\.at),
      settlements: known.filter(\.isSettlement).map(\.at))
  }
}

/// The refund requests about a purchase, with Apple's refusals, as they became known. They are read from Apple's
/// consumption requests.
struct KnownRefundRequests {
  private let requests: [ConsumptionRequestRecord]
  private let declines: [NotificationRecord]

  /// Reads the requests about a purchase.
  init(about line: LineKey, in store: any StoreTransaction) throws(StoreError) {
    requests = try store.consumptionRequests(about: line)
    // Most purchases have no request, and then need no second statement.
    declines =
      requests.isEmpty
      ? [] : try store.notifications(about: line, ofTypes: [NotificationTypeV2.refundDeclined.rawValue])
  }

  /// The requests that were known when the evidence `last` was stored; `nil`: all. A refusal without a transaction id
  /// counts for each request about the purchase.
  func requests(through last: EvidenceID?) -> [RefundRequest] {
    requests.filter { request in last.map { request.id <= $0 } ?? true }.map { request in
      let ofRequest = declines.filter { decline in
        (last.map { decline.evidenceID <= $0 } ?? true)
          && (decline.transactionID.isEmpty || decline.transactionID == request.transactionID)
      }
      return RefundRequest(
        line: request.line.lineID, transactionID: request.transactionID, reason: request.reason,
        askedAt: request.requestedAt, answeredAt: request.state == .answered ? request.settledAt : nil,
        declines: ofRequest.map { $0.signedDate ?? $0.receivedAt })
    }
  }
}
