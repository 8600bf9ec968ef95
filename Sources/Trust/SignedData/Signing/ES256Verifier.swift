/// Checks what somebody signed with ES256 and a key that we know, such as a token for the Server API.
package struct ES256Verifier: Sendable {
  private let key: PublicKey

  /// A verifier with the public half of a key on P-256: PEM, SubjectPublicKeyInfo.
  package init(publicKeyPEM pem: String) throws(CryptographyError) {
    guard let block = PEM(parsing: pem), let key = PublicKey(try KeyReference.publicKey(der: block.bytes))
    else {
      throw .unreadable(what: "a public key on P-256 in PEM", detail: "")
    }
    self.key = key
  }

  /// Whether a JWS in compact serialization has this key's signature. What it says is not looked at.
  package func verifies(jws text: String) throws(CryptographyError) -> Bool {
    guard let jws = try? CompactJWS(text), let signature = try? jws.decodedSignature() else { return false }
    return try key.verifies(signature[...], of: jws.signingInput)
  }

  /// Whether `signature`, in DER, is this key's for `message`: the form that offers of StoreKit 1 have.
  package func verifies(der signature: [UInt8], of message: [UInt8]) throws(CryptographyError) -> Bool {
    guard let signature = ECDSASignature(der: signature[...]) else { return false }
    return try key.verifies(signature.raw[...], of: message[...])
  }
}
