internal import AppStore
internal import JSON
internal import SignedData

/// What developers sign for offers: the JWS forms of StoreKit 2, and the signature in base64 of StoreKit 1.
///
/// Without a registered key no signature is checked, and without one there is nothing to check: the tester is trusted
/// to buy as the app would.
extension AppStoreSimulator {
  /// Checks what an order brings for its offer.
  func checkOffer(_ action: Action, _ parameters: Parameters) throws(ActionError) {
    guard action == .purchases else { return }
    if let jws = try parameters.stringIfPresent("introductoryOfferEligibility") {
      let order = try PurchaseOrder(parameters)
      try check(
        jws,
        [
          ("aud", "introductory-offer-eligibility"), ("bid", world.app(order.app)?.identity.bundleID),
          ("productId", order.productId),
        ])
    }
    guard let signature = try parameters.stringIfPresent("offerSignature") else { return }
    let order = try PurchaseOrder(parameters)
    guard signature.contains(".") else { return try checkLegacy(signature, order, parameters) }
    try check(
      signature,
      [
        ("aud", "promotional-offer"), ("bid", world.app(order.app)?.identity.bundleID),
        ("productId", order.productId), ("offerIdentifier", order.offer),
      ])
  }

  private func check(_ text: String, _ claims: [(name: String, expected: String?)]) throws(ActionError) {
    guard let jws = try? UnverifiedJWS(text), let key = jws.header["kid"]?.stringValue else {
      throw .invalidOfferSignature("it is not a JWS with a kid")
    }
    if let verifier = try verifier(key), (try? verifier.verifies(jws: text)) != true {
      throw .invalidOfferSignature("it is not that of the key \(key.debugDescription)")
    }
    for (claim, expected) in claims where jws.payload[claim]?.stringValue != expected {
      throw .invalidOfferSignature("its \(claim) is not \(expected ?? "there")")
    }
  }

  /// "Generating a signature for promotional offers": a text of seven parts, signed, good for a day.
  private func checkLegacy(
    _ signature: String, _ order: PurchaseOrder, _ parameters: Parameters
  ) throws(ActionError) {
    let key = try parameters.string("keyIdentifier")
    let nonce = try parameters.string("nonce")
    guard let timestamp = try parameters.integerIfPresent("timestamp") else {
      throw .missingMember("timestamp")
    }
    let age = [world.now, clock.machineNow()].map { abs($0.millisecondsSince1970 - timestamp) }.min() ?? 0
    guard age <= Self.lifetime else { throw .invalidOfferSignature("it is older than a day") }
    let parts = [
      world.app(order.app)?.identity.bundleID ?? "", key, order.productId, order.offer ?? "",
      order.appAccountToken?.lowercased() ?? "", nonce.lowercased(), String(timestamp),
    ]
    guard let der = Base64.standard.decode(Array(signature.utf8)[...]) else {
      throw .invalidOfferSignature("it is neither a JWS nor base64")
    }
    let message = Array(parts.joined(separator: "\u{2063}").utf8)
    if let verifier = try verifier(key), (try? verifier.verifies(der: der, of: message)) != true {
      throw .invalidOfferSignature("it is not that of the key \(key.debugDescription) for this order")
    }
  }

  /// A day, in milliseconds.
  private static let lifetime: Int64 = 86_400_000

  /// The verifier of a registered key; `nil` as long as none is registered.
  private func verifier(_ key: String) throws(ActionError) -> ES256Verifier? {
    guard !world.keys.isEmpty else { return nil }
    guard let pem = world.keys[key], let verifier = try? ES256Verifier(publicKeyPEM: pem) else {
      throw .invalidOfferSignature("its key \(key.debugDescription) is not registered")
    }
    return verifier
  }
}
