internal import AppStore
internal import JSON
internal import SignedData

/// The signatures of promotional offers.
extension AppStoreSimulator {
  /// Checks the signature that an order brings for its offer: a JWS, as StoreKit 2 takes it. The older form is a
  /// signature in base64 over a text whose parts the order would have to bring too, and is not taken.
  ///
  /// Without a registered key nothing is checked, and without a signature there is nothing to check: the tester
  /// is trusted to buy as the app would.
  func checkOffer(_ action: Action, _ parameters: Parameters) throws(Refusal) {
    guard action == .purchases, let signature = try parameters.stringIfPresent("offerSignature") else {
      return
    }
    let order = try PurchaseOrder(parameters)
    guard let jws = try? UnverifiedJWS(signature), let key = jws.header["kid"]?.stringValue else {
      throw .invalidOfferSignature("it is not a JWS with a kid")
    }
    if !world.keys.isEmpty {
      guard let pem = world.keys[key], let verifier = try? ES256Verifier(publicKeyPEM: pem) else {
        throw .invalidOfferSignature("its key \(key.debugDescription) is not registered")
      }
      guard (try? verifier.verifies(jws: signature)) == true else {
        throw .invalidOfferSignature("it is not that of the key \(key.debugDescription)")
      }
    }
    for (claim, expected) in [
      ("aud", "promotional-offer"), ("bid", world.app(order.app)?.identity.bundleID),
      ("productId", order.productId), ("offerIdentifier", order.offer),
    ] where jws.payload[claim]?.stringValue != expected {
      throw .invalidOfferSignature("its \(claim) is not \(expected ?? "there")")
    }
  }
}
