internal import Bytes
package import JSON

/// Signs JSON Web Tokens (RFC 7519) with ES256 and a named key.
package struct JWTSigner: Sendable {
  /// The header's `kid`.
  package let keyID: String
  private let key: SigningKey
  /// The encoded header with its dot; the same for every token.
  private let header: [UInt8]

  /// - Throws: ``CryptographyError/unreadable(what:detail:)`` for a key that is not on P-256, the only curve
  ///   of ES256 (RFC 7518, section 3.4).
  package init(key: SigningKey, keyID: String) throws(CryptographyError) {
    guard key.reference.isP256 else { throw .unreadable(what: "a private key on P-256", detail: "") }
    self.key = key
    self.keyID = keyID
    let header: JSONObject = ["alg": "ES256", "kid": .string(keyID), "typ": "JWT"]
    self.header = Base64.url.encodeUTF8(header.serialized()) + [UInt8(ascii: ".")]
  }

  /// Returns a token with `claims` in compact serialization.
  ///
  /// - Throws: ``CryptographyError`` if the key cannot sign.
  package func sign(_ claims: JSONObject) throws(CryptographyError) -> String {
    let message = header + Base64.url.encodeUTF8(claims.serialized())
    let signature = try key.sign(message[...])
    return String(decoding: message + [UInt8(ascii: ".")] + Base64.url.encodeUTF8(signature), as: UTF8.self)
  }

  /// Signs bytes and returns the signature in DER, as StoreKit 1 offers require.
  func signDER(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard let signature = ECDSASignature(raw: try key.sign(message[...])[...]) else {
      throw .failed(operation: "sign with ES256", detail: "expected a signature of 64 bytes")
    }
    return signature.der
  }

  /// Returns the public key as a JSON Web Key (RFC 7517), with `kid`, `alg` and `use`.
  package func publicJWK() throws(CryptographyError) -> JSONObject {
    var jwk = try key.thumbprintMembers()
    jwk["kid"] = .string(keyID)
    jwk["alg"] = "ES256"
    jwk["use"] = "sig"
    return jwk
  }
}

extension SigningKey {
  /// Returns the thumbprint (RFC 7638), which depends only on the public key, so that a key has the same name
  /// on every machine.
  package func thumbprint() throws(CryptographyError) -> String {
    let digest = SHA256.hash(try thumbprintMembers().serialized()[...])
    return Base64.url.encode(digest)
  }

  /// Returns the required members of an elliptic-curve key in alphabetical order (RFC 7638, section 3.2).
  fileprivate func thumbprintMembers() throws(CryptographyError) -> JSONObject {
    let point = try publicPoint()
    return [
      "crv": "P-256", "kty": "EC",
      "x": .string(Base64.url.encode(point.x)),
      "y": .string(Base64.url.encode(point.y)),
    ]
  }
}

/// Signs payloads as Apple does: ES256 with the certificate chain in the header.
package struct JWSSigner: Sendable {
  private let key: SigningKey
  /// The encoded header with its dot; the same for every payload.
  private let header: [UInt8]

  /// - Parameters:
  ///   - key: on P-256, the key that `chain`'s first certificate certifies.
  ///   - chain: leaf, intermediate, root.
  package init(key: SigningKey, chain: [Certificate]) {
    self.key = key
    let certificates = chain.map { certificate in
      JSONValue.string(Base64.standard.encode(certificate.der))
    }
    let header: JSONObject = ["alg": "ES256", "x5c": .array(certificates)]
    self.header = Base64.url.encodeUTF8(header.serialized()) + [UInt8(ascii: ".")]
  }

  /// Returns a JWS with `payload` in compact serialization (RFC 7515, section 3.1), signed with ES256.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL cannot sign.
  package func sign(payload: JSONObject) throws(CryptographyError) -> String {
    let message = header + Base64.url.encodeUTF8(payload.serialized())
    let signature = try key.sign(message[...])
    return String(decoding: message + [UInt8(ascii: ".")] + Base64.url.encodeUTF8(signature), as: UTF8.self)
  }
}
