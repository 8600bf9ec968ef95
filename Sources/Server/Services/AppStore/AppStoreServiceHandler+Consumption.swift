internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import FamilySharing
internal import JSON
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Consumption requests: the list, the response to Apple, and the consent of the customer.
extension AppStoreServiceHandler {
  /// Sends consumption information. By the stored facts, it rejects customers other than the purchaser,
  /// customers who withdrew consent, and a percentage that Apple rejects for the type. A dry run returns the request without a call.
  /// Apple's page: *Send Consumption Information*, which accepts an answer within 12 hours of the request.
  ///
  /// - Throws: `NO_CONSENT`, `CONSENT_WITHDRAWN`, `MISSING_FIELD`, `INVALID_FIELD`, and the errors of
  ///   ``refuse(_:about:_:_:)``.
  func sendConsumptionInformation(
    _ request: SendConsumptionInformationRequest, _ call: CallContext
  ) async throws(Status) -> SendConsumptionInformationResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.transactionId, "transaction_id")
      let information = try AppStore.ConsumptionRequest(request)
      try await refuse(
        .sendConsumptionInformation, about: request.transactionId, request.app, request.environment)
      let call = try self.call(request.app, request.environment, call)
      let line = try await consentedLine(of: request.transactionId, call)
      try await check(information, about: request.transactionId, call)
      let sent = AppStoreRequest.sendConsumptionInformation(information, of: request.transactionId)
      var response = SendConsumptionInformationResponse()
      if case .json(let body) = sent.body { response.payloadJson = JSONValue.object(body).text }
      if request.dryRun { return response }
      return try await changeOnce(
        once, sent,
        Record(
          AppleCall.sendConsumptionInformation, about: line.lineID, transactionID: request.transactionId,
          by: request.actor, note: request.note), call
      ) { [context, response] in
        var response = response
        response.sentAt = GoogleProtobuf.Timestamp(context.now(in: call.environment))
        return response
      }
    }
  }

  /// Rejects a consumed share that Apple rejects for the type of the purchase.
  private func check(
    _ information: AppStore.ConsumptionRequest, about transactionID: String, _ call: Call
  ) async throws(Status) {
    let transaction = LineKey(appID: call.app.id, environment: call.environment, lineID: transactionID)
    let type = try await latest(of: transaction)?.type
    guard let problem = information.problem(with: type) else { return }
    throw .invalidField("consumption_percentage", problem)
  }

  /// Returns the line of a transaction. Rejects a manual response if the customer withdrew consent: the operator vouches
  /// for consent, but cannot override the customer.
  func consentedLine(of transactionID: String, _ call: Call) async throws(Status) -> LineKey {
    let transaction = LineKey(appID: call.app.id, environment: call.environment, lineID: transactionID)
    let line = transaction.other(try await latest(of: transaction)?.originalTransactionID ?? transactionID)
    let isWithdrawn = try await context.read { reader throws(StoreError) in
      try reader.owners(of: line).map { owner throws(StoreError) in
        try reader.consent(of: line.customer(owner))
      }.contains { $0?.isGiven == false }
    }
    guard isWithdrawn else { return line }
    throw Status(
      .failedPrecondition, reason: "CONSENT_WITHDRAWN", "the customer withdrew the consent to this",
      field: "customer_consented")
  }

  /// The position of a page is the evidence id of the last consumption request of the previous page.
  /// Reads the store and does not call Apple. `consumption_percentage` is set for open requests only: the share that an
  /// automatic answer would have. The id of a merged customer selects the requests of the merge target.
  func listConsumptionRequests(
    _ request: ListConsumptionRequestsRequest, _ call: CallContext
  ) async throws(Status) -> ListConsumptionRequestsResponse {
    let app = try context.catalog.value.app(request.app)
    let size = try RequestValidation.pageSize(request.pageSize)
    var query = ConsumptionRequestFilter(appID: app.id, limit: size + 1)
    if request.environment != .unspecified { query.environment = try app.environment(request.environment) }
    query.state = try ConsumptionRequestRecord.State(request.state)
    let environments = query.environment.map { [$0] } ?? app.environments
    let customers = request.customerId.given.map { id in
      environments.map { CustomerKey(appID: app.id, environment: $0, customerID: id) }
    }
    let page = try context.pageTokens.page(request)
    query.after = try page.number.map(EvidenceID.init(rawValue:))
    let found = try await context.read { [query] reader throws(StoreError) in
      var query = query
      for customer in customers ?? [] { query.customers.append(try reader.finalMergeTarget(of: customer)) }
      return try reader.consumptionRequests(query).map { request throws(StoreError) in
        var message = Wire.ConsumptionRequest(request, customerID: try reader.owner(of: request.line))
        message.consumptionPercentage = try reader.consumedShare(of: request, in: app)
        return message
      }
    }
    CallScope.show(found.prefix(size).map(\.customerId), of: "consumption requests")
    return .with {
      $0.requests = Array(found.prefix(size))
      if found.count > size { $0.nextPageToken = page.token(after: found[size - 1].evidenceId) }
    }
  }

  /// Records consent or its withdrawal. `consented` must be set, because a missing field would withdraw consent by
  /// mistake.
  ///
  /// - Throws: `MISSING_FIELD` without `consented`.
  func setConsumptionConsent(
    _ request: SetConsumptionConsentRequest, _ call: CallContext
  ) async throws(Status) -> SetConsumptionConsentResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.scope(of: request).app
    try RequestValidation.customerID(request.customerId)
    guard let isGiven = request.consented else { throw .missingField("consented", "consented is not set") }
    let scope = try CommandScope(request, in: app, isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.recordConsent(isGiven, of: request.customerId, scope)
    } response: { outcome in
      .with {
        $0.consent = outcome.consent.map(Wire.ConsumptionConsent.init)
        if request.dryRun, outcome.evidenceID != nil { $0.consent?.evidenceId = nil }
      }
    }
  }
}

extension StoreSnapshot {
  /// The consumed share that an automatic answer to an open request would have by default; `nil` without one.
  fileprivate func consumedShare(
    of request: ConsumptionRequestRecord, in app: AppDefinition
  ) throws(StoreError) -> Int32? {
    guard request.state == .open,
      let fact = try transaction(request.transactionID, of: app.id, in: request.line.environment)
    else { return nil }
    let stacked = try purchases(addingUpWith: fact, of: request.line) { customer throws(StoreError) in
      try facts(of: customer)
    }
    let information = ConsumptionPolicy.Terms().information(
      about: fact, app.products[fact.productID], from: stacked.start(ofNonRenewing: fact, in: app),
      at: request.requestedAt)
    return information.consumptionPercentage.map { Int32(clamping: $0) }
  }
}
