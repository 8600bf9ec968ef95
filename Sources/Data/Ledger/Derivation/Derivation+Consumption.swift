internal import AppStore
internal import Entitlements
internal import Store

// Apple's questions about purchases whose customers want the money back, and whether they may be answered.
extension Derivation {
  /// Remembers a question until it is answered. One that both versions of notifications ask is one.
  func open(_ inquiry: ConsumptionRequestRecord) throws(StoreError) {
    guard try store.inquiry(inquiry.id) == nil else { return }
    let isAsked = try store.inquiries(about: inquiry.line).contains { other in
      other.transactionID == inquiry.transactionID
        && abs(other.requestedAt.milliseconds(since: inquiry.requestedAt)) < ConsumptionRequestRecord.patience
    }
    guard !isAsked else { return }
    try store.put(inquiry)
    ConsumptionMetrics.asked(inquiry)
    try mention(
      .refundRequested, about: inquiry.line, by: Origin(cause: .evidence, evidence: inquiry.id))
  }

  /// Opens what a notification of version 2 asks.
  func open(askedBy contents: NotificationContents, _ evidence: StoredEvidence) throws(StoreError) {
    guard contents.payload.notificationType == .consumptionRequest,
      let environment = evidence.evidence.environment
    else { return }
    let record = contents.record(of: evidence, state: .applied)
    guard !record.originalTransactionID.isEmpty else { return }
    try open(
      ConsumptionRequestRecord(
        id: evidence.id,
        line: LineKey(
          appID: record.appID, environment: environment, originalTransactionID: record.originalTransactionID),
        transactionID: record.transactionID.isEmpty ? record.originalTransactionID : record.transactionID,
        productID: record.productID, reason: contents.payload.data?.consumptionRequestReason?.rawValue ?? "",
        requestedAt: record.signedDate ?? record.receivedAt))
  }

  /// Apple took an answer: what it had asked about this purchase is settled.
  func settle(answeredBy call: AppleCall, about line: LineKey) throws(StoreError) {
    guard call.method == AppleCall.sendConsumptionInformation, !call.isRefused else { return }
    for var inquiry in try store.inquiries(about: line) where inquiry.state == .open {
      guard call.transactionID.isEmpty || inquiry.transactionID == call.transactionID else { continue }
      inquiry.settle(.answered, at: now)
      try store.put(inquiry)
      ConsumptionMetrics.settled(inquiry)
    }
  }

  /// Remembers what a customer says, and has what waits for it looked at.
  func apply(consent isGiven: Bool, of customer: CustomerKey, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try store.put(ConsumptionConsent(isGiven: isGiven, since: now, evidenceID: evidence), of: customer)
    try mention(isGiven ? .consentGiven : .consentWithdrawn, to: customer, entitlements: [""], by: origin)
    guard isGiven else { return }
    for line in try store.lines(of: customer) {
      for var inquiry in try store.inquiries(about: line) where inquiry.state == .open {
        inquiry.dueAt = now
        try store.put(inquiry)
      }
    }
  }
}
