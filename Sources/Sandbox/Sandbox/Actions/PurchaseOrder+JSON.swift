internal import AppStore
internal import JSON
internal import SignedData

extension PurchaseOrder {
  /// The members that an order may have.
  static let members = [
    "app", "productId", "appAccountToken", "account", "quantity", "purchaseDate", "offer", "offerSignature",
    "keyIdentifier", "nonce", "timestamp", "introductoryOfferEligibility", "seats", "askToBuy",
  ]

  /// Reads an order from the body of a request.
  init(_ parameters: Parameters) throws(ActionError) {
    try parameters.allow(only: Self.members)
    self.init(
      app: try parameters.string("app"), productId: try parameters.string("productId"),
      appAccountToken: try parameters.stringIfPresent("appAccountToken"),
      account: try parameters.stringIfPresent("account"),
      quantity: try parameters.integerIfPresent("quantity") ?? 1,
      purchaseDate: try parameters.instantIfPresent("purchaseDate"),
      offer: try parameters.stringIfPresent("offer"), seats: try parameters.integerIfPresent("seats"))
    // Whoever signed it was looked at when the order came.
    let eligibility = try parameters.stringIfPresent("introductoryOfferEligibility")
    allowsIntroductoryOffer = eligibility.flatMap { try? UnverifiedJWS($0) }
      .flatMap { $0.payload["allowIntroductoryOffer"]?.boolValue }
  }

  /// The order as ``init(_:)`` reads it.
  var json: JSONObject {
    var json: JSONObject = ["app": .string(app), "productId": .string(productId)]
    json["appAccountToken"] = appAccountToken.map(JSONValue.string)
    json["account"] = account.map(JSONValue.string)
    json["quantity"] = .number(JSONNumber(quantity))
    json["purchaseDate"] = purchaseDate.map { .number(JSONNumber($0.millisecondsSince1970)) }
    json["offer"] = offer.map(JSONValue.string)
    json["seats"] = seats.map { .number(JSONNumber($0)) }
    return json
  }
}
