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
    try store.put(request)
    changes.effects.append(
      .consumptionRequestOpened(appID: request.line.appID, request.line.environment))
    changes.emitInformational(
      .refundRequested, to: .owners(request.line), about: request.transactionID, by: .document(request.id),
      at: request.requestedAt)
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
    answeredBy call: AppleCall, about line: LineKey
  ) throws(StoreError) {
    guard call.method == AppleCall.sendConsumptionInformation, !call.isRefused else { return }
    for var request in try store.consumptionRequests(about: line) where request.state == .open {
      guard call.transactionID.isEmpty || request.transactionID == call.transactionID else { continue }
      request.settle(.answered, at: now)
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
