internal import AppStore
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

/// `entitled.v1.ReceiptService/SignOffer`: signs what an app shows to StoreKit.
///
/// There is one instance for each event loop, since its reader belongs to one.
struct OfferService {
  private let reader: any StoreReader
  private let catalog: CurrentCatalog
  private let setups: [String: OfferSetup]
  private let now: @Sendable () -> Instant

  init(
    reader: any StoreReader, catalog: CurrentCatalog, setups: [String: OfferSetup],
    now: @escaping @Sendable () -> Instant
  ) {
    self.reader = reader
    self.catalog = catalog
    self.setups = setups
    self.now = now
  }

  var methods: [Method] {
    [
      .unary("/\(ReceiptService.name)/SignOffer") { (request: SignOfferRequest, _) throws(Status) in
        try sign(request)
      }
    ]
  }

  private func sign(_ request: SignOfferRequest) throws(Status) -> SignOfferResponse {
    let app = try catalog.value.app(request.app)
    let offer = try OfferSigningRequest(request, in: app)
    guard let setup = setups[app.id] else {
      throw Status(
        .failedPrecondition, reason: "NO_SIGNING_KEY",
        "the app '\(app.id)' has no in_app_purchase_key in the configuration", metadata: [("app", app.id)])
    }
    if setup.checksEligibility && !request.skipEligibilityCheck {
      try checkEligibility(for: offer, request, app)
    }
    let nonce = Nonce.random()
    let now = now()
    do {
      let signature = try offer.signed(by: setup.signer, nonce: nonce, now: now)
      return .with { response in
        response.signature = signature
        response.keyIdentifier = setup.signer.keyID
        response.nonce = nonce.description
        response.timestamp = now.millisecondsSince1970
      }
    } catch {
      throw Status(.internalError, reason: "CRYPTOGRAPHY_FAILED", "the offer could not be signed")
    }
  }

  private func checkEligibility(
    for offer: OfferSigningRequest, _ request: SignOfferRequest, _ app: AppDefinition
  ) throws(Status) {
    let eligibility: OfferEligibility
    switch offer {
    case .legacyPromotional, .promotional: eligibility = .promotional(try facts(request, app))
    case .introductory(let product, let isAllowed, _):
      // To say no needs no history.
      guard isAllowed, let group = product.subscriptionGroup else { return }
      eligibility = .introductory(try facts(request, app), group: group, in: app)
    case .advancedCommerce: return
    }
    switch eligibility {
    case .eligible: return
    case .neverSubscribed:
      throw Status(
        .failedPrecondition, reason: "NEVER_SUBSCRIBED",
        "promotional offers are for customers who have or had a subscription, and this one had none")
    case .introductoryOfferUsed(let transactionID):
      throw Status(
        .failedPrecondition, reason: "INTRODUCTORY_OFFER_USED",
        "the customer had an introductory offer in this subscription group",
        metadata: [("transactionId", transactionID)])
    }
  }

  private func facts(_ request: SignOfferRequest, _ app: AppDefinition) throws(Status) -> CustomerFacts {
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    do throws(StoreError) {
      let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
      return try reader.facts(of: key) ?? CustomerFacts()
    } catch {
      throw Status(error)
    }
  }
}
