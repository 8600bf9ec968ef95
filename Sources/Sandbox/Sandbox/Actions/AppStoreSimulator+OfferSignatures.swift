internal import AppStore
internal import Bytes
internal import JSON
internal import SignedData

/// Checks of offer signatures: the JWS formats of StoreKit 2 and the base64 signature of StoreKit 1.
///
/// Signatures are checked only if at least one public key is registered.
extension AppStoreSimulator {
  /// Checks the signatures that an order carries for its offer. Other actions and orders without signatures pass.
  ///
  /// - Throws: ``ActionError/invalidOfferSignature(_:)``.
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

  /// Checks that a JWS verifies with the key that it names, and that its claims are those of the order.
  private func check(_ text: String, _ claims: [(name: String, expected: String?)]) throws(ActionError) {
    guard let jws = try? UnverifiedJWS(text), let key = jws.header["kid"]?.stringValue else {
      throw .invalidOfferSignature("not a JWS with a kid")
    }
    if let verifier = try verifier(key), (try? verifier.verifies(jws: text)) != true {
      throw .invalidOfferSignature("it does not verify with the key \(key.debugDescription)")
    }
    for (claim, expected) in claims where jws.payload[claim]?.stringValue != expected {
      throw .invalidOfferSignature("\(claim) is not '\(expected ?? "")'")
    }
  }

  /// Checks a StoreKit 1 signature: seven parts joined by U+2063, valid for 24 hours (Apple: "Generating a
  /// signature for promotional offers").
  private func checkLegacy(
    _ signature: String, _ order: PurchaseOrder, _ parameters: Parameters
  ) throws(ActionError) {
    let key = try parameters.string("keyIdentifier")
    let nonce = try parameters.string("nonce")
    guard let timestamp = try parameters.integerIfPresent("timestamp") else {
      throw .missingMember("timestamp")
    }
    let signed = Instant(millisecondsSince1970: timestamp)
    let age = [world.now, clock.machineNow()].map { $0.milliseconds(since: signed).magnitude }.min() ?? 0
    guard age <= Self.lifetime else { throw .invalidOfferSignature("older than 24 hours") }
    let parts = [
      world.app(order.app)?.identity.bundleID ?? "", key, order.productId, order.offer ?? "",
      order.appAccountToken?.lowercased() ?? "", nonce.lowercased(), String(timestamp),
    ]
    guard let der = Base64.standard.decode(signature) else {
      throw .invalidOfferSignature("neither a JWS nor base64")
    }
    let message = Array(parts.joined(separator: "\u{2063}").utf8)
    if let verifier = try verifier(key), (try? verifier.verifies(der: der, of: message)) != true {
      throw .invalidOfferSignature("it does not verify with the key \(key.debugDescription) for this order")
    }
  }

  /// The lifetime of a StoreKit 1 signature, in milliseconds.
  private static let lifetime: Int64 = Instant.millisecondsPerDay

  /// Returns the verifier for a registered key, or `nil` if no key is registered at all.
  private func verifier(_ key: String) throws(ActionError) -> ES256Verifier? {
    guard !world.keys.isEmpty else { return nil }
    guard let pem = world.keys[key], let verifier = try? ES256Verifier(publicKeyPEM: pem) else {
      throw .invalidOfferSignature("unknown key \(key.debugDescription)")
    }
    return verifier
  }
}
