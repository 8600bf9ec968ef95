internal import AppStore
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

// Signatures of offers that an app presents to StoreKit.
extension ReceiptServiceHandler {
  /// Signs an offer in the requested form, with a random nonce and the present time of the environment. The eligibility
  /// of the customer is checked unless the configuration or the request turns that off.
  ///
  /// - Throws: the errors of ``OfferSigningRequest`` and of the eligibility; `NO_SIGNING_KEY` without a key of the app.
  func signOffer(_ request: SignOfferRequest, _ call: CallContext) async throws(Status) -> SignOfferResponse {
    let app = try context.catalog.value.app(request.app)
    let offer = try OfferSigningRequest(request, in: app)
    guard let settings = context.signing.offers[app.id] else {
      throw Status(
        .failedPrecondition, reason: "NO_SIGNING_KEY",
        "the app '\(app.id)' has no in_app_purchase_key in the configuration", metadata: [("app", app.id)])
    }
    if settings.checksEligibility && !request.skipEligibilityCheck {
      try await checkEligibility(for: offer, request, app, call)
    }
    let nonce = Nonce.random()
    let now = context.now(in: try app.environment(request.environment))
    do throws(CryptographyError) {
      let signature = try offer.signed(by: settings.signer, nonce: nonce, now: now)
      return .with { response in
        response.signature = signature
        response.keyIdentifier = settings.signer.keyID
        // A JWS contains its nonce.
        if case .legacyPromotional = offer { response.nonce = nonce.description }
        response.timestamp = now.millisecondsSince1970
      }
    } catch {
      throw Status(signing: "the offer", failed: error)
    }
  }

  /// Refuses an offer that Apple's rules exclude for this customer, as far as the stored purchases show.
  ///
  /// - Throws: `NEVER_SUBSCRIBED`, `EXISTING_SUBSCRIBER` or `INTRODUCTORY_OFFER_USED`.
  private func checkEligibility(
    for offer: OfferSigningRequest, _ request: SignOfferRequest, _ app: AppDefinition, _ call: CallContext
  ) async throws(Status) {
    let eligibility: OfferEligibility
    switch offer {
    case .legacyPromotional, .promotional:
      eligibility = .promotional(try await facts(request, app, call), in: app)
    case .introductory(let product, let isAllowed, _):
      // A rejected offer needs no customer history.
      guard isAllowed, let group = product.subscriptionGroup else { return }
      let now = context.now(in: try app.environment(request.environment))
      eligibility = .introductory(
        try await facts(request, app, call), group: group, in: app, at: now)
    case .advancedCommerce: return
    }
    switch eligibility {
    case .eligible: return
    case .neverSubscribed:
      throw Status(
        .failedPrecondition, reason: "NEVER_SUBSCRIBED",
        "promotional offers are for customers who have or had a subscription, and this one had none")
    case .existingSubscriber(let transactionID):
      throw Status(
        .failedPrecondition, reason: "EXISTING_SUBSCRIBER",
        "introductory offers are for new and lapsed subscribers, and this customer subscribes to the group",
        metadata: [("transactionId", transactionID)])
    case .introductoryOfferUsed(let transactionID):
      throw Status(
        .failedPrecondition, reason: "INTRODUCTORY_OFFER_USED",
        "the customer had an introductory offer in this subscription group",
        metadata: [("transactionId", transactionID)])
    }
  }

  /// The facts of the customer that the request names, who may be merged into another, and of the Apple account that
  /// made the request's transaction, also of its purchases that other customers own: Apple's rules count what the account
  /// used.
  private func facts(
    _ request: SignOfferRequest, _ app: AppDefinition, _ call: CallContext
  ) async throws(Status) -> CustomerFacts {
    let place = AppEnvironment(appID: app.id, environment: try app.environment(request.environment))
    try RequestValidation.customerID(request.customerId)
    let key = CustomerKey(appID: app.id, environment: place.environment, customerID: request.customerId)
    return try await context.read(about: key, call) { reader throws(StoreError) in
      let customer = try reader.finalMergeTarget(of: key)
      var facts = try reader.facts(of: customer) ?? CustomerFacts()
      for line in try reader.lines(ofAccountWith: request.transactionId, in: place) {
        facts.merge(try reader.facts(of: line))
      }
      return facts
    }
  }
}

extension StoreSnapshot {
  /// The purchases of the Apple account that has a transaction. As in Apple's requests, `id` may be the account's
  /// `appTransactionId` instead.
  fileprivate func lines(
    ofAccountWith id: String, in place: AppEnvironment
  ) throws(StoreError) -> Set<LineKey> {
    var (lines, installs) = (Set<LineKey>(), Set([id]))
    if let transaction = try transaction(id, of: place.appID, in: place.environment) {
      let line = LineKey(
        appID: place.appID, environment: place.environment, lineID: transaction.originalTransactionID)
      lines = [line]
      installs = Set(try facts(of: line).transactions.compactMap(\.details.appTransactionID))
    }
    for install in installs where !install.isEmpty {
      lines.formUnion(try self.lines(ofAppInstall: install, of: place.appID, in: place.environment))
    }
    return lines
  }
}
