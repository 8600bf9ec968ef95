internal import AppStore
internal import Entitlements
internal import Store

// Consumption requests, and the customers' consent to answer them.
extension FactApplier {
  /// Stores an open consumption request, once for the notifications of both versions about it.
  ///
  /// After Apple declined a refund, the customer may ask for it again within hours. `isDated`: the request has Apple's date.
  /// One of version 1 has that of its arrival, so it may repeat a request from before the decision.
  mutating func open(_ request: ConsumptionRequestRecord, isDated: Bool) throws(StoreError) {
    guard try store.consumptionRequest(request.id) == nil else { return }
    let decisions = try decisions(about: request)
    let isRepetition = try store.consumptionRequests(about: request.line).contains { other in
      let times = [other.requestedAt, request.requestedAt].sorted()
      guard other.transactionID == request.transactionID,
        times[1].milliseconds(since: times[0]) < ConsumptionRequestRecord.answerTimeout
      else { return false }
      return !isDated || !decisions.contains { (times[0]..<times[1]).contains($0) }
    }
    guard !isRepetition else { return }
    var request = request
    if decisions.contains(where: { $0 >= request.requestedAt }) { request.settle(.decided, at: now) }
    try store.put(request)
    try store.enqueueForReports(request.line, from: request.id)
    changes.effects.append(
      .consumptionRequestOpened(appID: request.line.appID, request.line.environment))
    changes.emitInformational(
      .refundRequested, to: .owners(request.line), about: request.transactionID, by: .document(request.id),
      at: request.requestedAt)
  }

  /// When Apple decided about refunds of the transaction of a request, as far as it is known. The notification of a decision,
  /// or a document with the refund, may overtake the notification of the request.
  private func decisions(about request: ConsumptionRequestRecord) throws(StoreError) -> [Instant] {
    let fact = try store.facts(of: request.line).transactions.first {
      $0.transactionID == request.transactionID
    }
    let types: [NotificationTypeV2] = [.refund, .refundDeclined]
    let notified = try store.notifications(about: request.line, ofTypes: types.map(\.rawValue)).filter {
      $0.transactionID.isEmpty || $0.transactionID == request.transactionID
    }
    return notified.map { $0.signedDate ?? $0.receivedAt } + (fact?.revocationDate.map { [$0] } ?? [])
  }

  /// Opens the requests that Apple made before and after a decision, and whose notifications overtook that of the decision:
  /// until then, one of them was taken for a repetition of the other.
  mutating func openConsumptionRequests(
    around decidedAt: Instant, about transactionID: String, of line: LineKey
  ) throws(StoreError) {
    let type = NotificationTypeV2.consumptionRequest.rawValue
    for record in try store.notifications(about: line, ofTypes: [type]) {
      guard let signedDate = record.signedDate,
        abs(signedDate.milliseconds(since: decidedAt)) < ConsumptionRequestRecord.answerTimeout,
        transactionID.isEmpty || record.transactionID == transactionID,
        try store.consumptionRequest(record.evidenceID) == nil,
        let body = try store.evidence(record.evidenceID)?.evidence.content.body,
        let request = NotificationContents(body: body)?.consumptionRequest(record, in: line.environment)
      else { continue }
      try open(request, isDated: true)
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
    try checkConsumptionRequests(of: customer)
  }

  /// Makes the open consumption requests about the customer's purchases due, because the consent changed.
  func checkConsumptionRequests(of customer: CustomerKey) throws(StoreError) {
    for line in try store.lines(of: customer) { try store.setDue(consumptionRequestsAbout: line, at: now) }
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
