internal import AppStore
internal import Entitlements
internal import JSON
internal import RPC
internal import SignedData
internal import Wire

/// A validated request to sign an offer.
enum OfferSigningRequest {
  /// A promotional offer in Apple's older form, a signature beside its nonce and time; `account` may be empty.
  case legacyPromotional(ProductDefinition, offerID: String, account: String)
  /// A promotional offer as a JWS; `transactionID` ties it to one customer.
  case promotional(ProductDefinition, offerID: String, transactionID: String?)
  /// Whether a customer may have an introductory offer, as a JWS.
  case introductory(ProductDefinition, isAllowed: Bool, transactionID: String)
  /// A request of the Advanced Commerce API, as a JWS.
  case advancedCommerce(JSONObject)

  /// Validates a request.
  ///
  /// - Throws: `INVALID_ARGUMENT` naming the field, `NOT_FOUND` for a product that is not in the catalog.
  init(_ request: SignOfferRequest, in app: AppDefinition) throws(Status) {
    switch request.form {
    case .promotionalLegacy:
      self = .legacyPromotional(
        try Self.product(request, app), offerID: try Self.offerID(request), account: request.appAccountToken)
    case .promotionalJws:
      self = .promotional(
        try Self.product(request, app), offerID: try Self.offerID(request),
        transactionID: request.transactionId.isEmpty ? nil : request.transactionId)
    case .introductoryEligibilityJws:
      self = .introductory(
        try Self.product(request, app), isAllowed: request.allowIntroductoryOffer,
        transactionID: try Self.needed(request.transactionId, "transaction_id"))
    case .advancedCommerceJws: self = .advancedCommerce(try Self.advancedCommerce(request))
    case .unspecified: throw Self.missing("form")
    case .unrecognized(let number):
      throw .invalidField("form", "there is no form \(number)")
    }
  }

  /// Signs the offer in the requested form.
  func signed(by signer: OfferSigner, nonce: Nonce, now: Instant) throws(CryptographyError) -> String {
    switch self {
    case .legacyPromotional(let product, let offerID, let account):
      try signer.legacyPromotionalOffer(
        productID: product.productID, offerID: offerID, account: account, nonce: nonce, timestamp: now)
    case .promotional(let product, let offerID, let transactionID):
      try signer.promotionalOffer(
        productID: product.productID, offerID: offerID, transactionID: transactionID, nonce: nonce,
        issuedAt: now)
    case .introductory(let product, let isAllowed, let transactionID):
      try signer.introductoryOfferEligibility(
        productID: product.productID, isAllowed: isAllowed, transactionID: transactionID, nonce: nonce,
        issuedAt: now)
    case .advancedCommerce(let request):
      try signer.advancedCommerceRequest(request, nonce: nonce, issuedAt: now)
    }
  }

  /// The subscription of the offer.
  ///
  /// - Throws: `MISSING_FIELD`, `UNKNOWN_PRODUCT` or `NOT_A_SUBSCRIPTION`.
  private static func product(
    _ request: SignOfferRequest, _ app: AppDefinition
  ) throws(Status) -> ProductDefinition {
    let id = try needed(request.productId, "product_id")
    guard let product = app.products[id] else {
      throw Status(
        .notFound, reason: "UNKNOWN_PRODUCT", "the app '\(app.id)' has no product '\(id)'",
        metadata: [("product", id)], field: "product_id")
    }
    guard product.type == .autoRenewableSubscription else {
      throw Status(
        .invalidArgument, reason: "NOT_A_SUBSCRIPTION",
        "only auto-renewable subscriptions have offers, and '\(id)' is none", field: "product_id")
    }
    return product
  }

  private static func offerID(_ request: SignOfferRequest) throws(Status) -> String {
    try needed(request.offerIdentifier, "offer_identifier")
  }

  /// The request of Advanced Commerce, which the app passes to StoreKit.
  ///
  /// - Throws: `MALFORMED_JSON`, `MISSING_FIELD`, or `INVALID_FIELD` for a member that Apple documents otherwise.
  private static func advancedCommerce(_ request: SignOfferRequest) throws(Status) -> JSONObject {
    let field = "advanced_commerce_request_json"
    let text = try needed(request.advancedCommerceRequestJson, field)
    let value: JSONValue
    do { value = try JSONValue(parsing: text) } catch {
      throw Status(.invalidArgument, reason: "MALFORMED_JSON", "\(field): \(error)", field: field)
    }
    guard let object = value.objectValue else {
      throw Status(.invalidArgument, reason: "MALFORMED_JSON", "\(field) is not a JSON object", field: field)
    }
    // Apple's libraries have them in each request of the app; StoreKit refuses one without them.
    let reference = object["requestInfo"]?.objectValue?["requestReferenceId"]
    for (name, value) in [
      ("operation", object["operation"]), ("version", object["version"]),
      ("requestInfo.requestReferenceId", reference),
    ] where value?.stringValue?.isEmpty ?? true {
      throw .missingField(field, "\(field) has no \(name)")
    }
    do { try PayloadShape.inAppRequest(object)?.check(object) } catch {
      throw .invalidField(field, "\(field) is malformed: \(error)")
    }
    return object
  }

  /// Returns a field that is not empty.
  ///
  /// - Throws: `MISSING_FIELD`.
  private static func needed(_ text: String, _ field: String) throws(Status) -> String {
    guard !text.isEmpty else { throw missing(field) }
    return text
  }

  private static func missing(_ field: String) -> Status {
    .missingField(field, "\(field) is empty")
  }
}
