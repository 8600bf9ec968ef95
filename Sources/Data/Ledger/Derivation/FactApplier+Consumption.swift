internal import AppStore
internal import Entitlements
internal import Store

// Consumption requests, and the customers' consent to answer them.
extension FactApplier {
  /// Stores an open consumption request, once for the notifications of both versions about it.
  mutating func open(_ request: ConsumptionRequestRecord) throws(StoreError) {
    guard try store.consumptionRequest(request.id) == nil else { return }
    let isOpen = try store.consumptionRequests(about: request.line).contains { other in
      other.transactionID == request.transactionID
        && abs(other.requestedAt.milliseconds(since: request.requestedAt))
          < ConsumptionRequestRecord.answerTimeout
    }
    guard !isOpen else { return }
    var request = request
    if try isDecided(request) { request.settle(.decided, at: now) }
    try store.put(request)
    try store.enqueueForReports(request.line, from: request.id)
    changes.effects.append(
      .consumptionRequestOpened(appID: request.line.appID, request.line.environment))
    changes.emitInformational(
      .refundRequested, to: .owners(request.line), about: request.transactionID, by: .document(request.id),
      at: request.requestedAt)
  }

  /// Whether Apple's decision about the refund is known. Its notification, or a document with the refund, may overtake
  /// the notification of the request.
  private func isDecided(_ request: ConsumptionRequestRecord) throws(StoreError) -> Bool {
    let isRefunded = try store.facts(of: request.line).transactions.contains { fact in
      fact.transactionID == request.transactionID
        && fact.revocationDate.map { $0 >= request.requestedAt } == true
    }
    if isRefunded { return true }
    let decisions: [NotificationTypeV2] = [.refund, .refundDeclined]
    return try store.notifications(about: request.line, ofTypes: decisions.map(\.rawValue)).contains {
      ($0.transactionID.isEmpty || $0.transactionID == request.transactionID)
        && $0.signedDate ?? $0.receivedAt >= request.requestedAt
    }
  }

  /// Stores the state of a consumption request that is no longer open, or was attempted.
  mutating func update(_ request: ConsumptionRequestRecord) throws(StoreError) {
    try store.put(request)
    guard request.state != .open else { return }
    changes.effects.append(
      .consumptionRequestSettled(appID: request.line.appID, request.line.environment, request.state))
  }

  /// Settles the open consumption requests that a call to Apple answered.
  mutating func settleConsumptionRequests(
    answeredBy call: AppleCall, about line: LineKey, _ evidence: EvidenceID
  ) throws(StoreError) {
    guard call.answersConsumptionRequest, !call.isRefused else { return }
    for var request in try store.consumptionRequests(about: line) where request.state == .open {
      guard call.transactionID.isEmpty || request.transactionID == call.transactionID else { continue }
      request.settle(.answered, at: now)
      try update(request)
      try store.enqueueForReports(line, from: evidence)
    }
  }

  /// Settles the open consumption requests about a refund that Apple decided at `instant`.
  mutating func settleConsumptionRequests(
    decidedAt instant: Instant, about transactionID: String, of line: LineKey, _ evidence: EvidenceID
  ) throws(StoreError) {
    for var request in try store.consumptionRequests(about: line) {
      guard request.requestedAt <= instant,
        transactionID.isEmpty || request.transactionID == transactionID
      else { continue }
      try store.enqueueForReports(line, from: evidence)
      guard request.state == .open else { continue }
      request.settle(.decided, at: now)
      try update(request)
    }
  }

  /// Stores a customer's consent, and makes the customer's open consumption requests due if it was given.
  mutating func applyConsent(
    _ isGiven: Bool, of customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try store.put(ConsumptionConsent(isGiven: isGiven, since: now, evidenceID: evidence), of: customer)
    changes.emitInformational(
      isGiven ? .consentGiven : .consentWithdrawn, to: .customer(customer), by: origin)
    guard isGiven else { return }
    for line in try store.lines(of: customer) {
      for var request in try store.consumptionRequests(about: line) where request.state == .open {
        request.dueAt = now
        try store.put(request)
      }
    }
  }
}

extension NotificationContents {
  /// The consumption request in the notification; `nil` if it has another type.
  func consumptionRequest(
    _ record: NotificationRecord, in environment: Environment
  ) -> ConsumptionRequestRecord? {
    guard payload.notificationType == .consumptionRequest, !record.originalTransactionID.isEmpty else {
      return nil
    }
    return ConsumptionRequestRecord(
      id: record.evidenceID,
      line: LineKey(
        appID: record.appID, environment: environment, lineID: record.originalTransactionID),
      transactionID: record.transactionID.isEmpty ? record.originalTransactionID : record.transactionID,
      productID: record.productID, reason: payload.data?.consumptionRequestReason?.rawValue ?? "",
      requestedAt: record.signedDate ?? record.receivedAt)
  }
}
