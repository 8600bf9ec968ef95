internal import COpenSSL

/// A private key that signs: P-256 for ES256, P-384 for the certificates above, RSA for receipts.
package final class SigningKey: Sendable {
  /// The curves in Apple's chains.
  package enum Curve: String, Sendable {
    /// The curve of ES256: Apple's documents and keys, and entitlement tokens.
    case p256 = "P-256"
    /// The curve of Apple's root certificates.
    case p384 = "P-384"
  }

  let reference: KeyReference

  init(_ reference: KeyReference) { self.reference = reference }

  /// Generates a key.
  ///
  /// - Throws: ``CryptographyError/failed(operation:detail:)`` without randomness or memory.
  package static func generate(_ curve: Curve) throws(CryptographyError) -> SigningKey {
    let context = try made(EVP_PKEY_CTX_new_from_name(nil, "EC", nil), "make a key")
    defer { EVP_PKEY_CTX_free(context) }
    try check(EVP_PKEY_keygen_init(context), "make a key")
    try check(EVP_PKEY_CTX_set_group_name(context, curve.rawValue), "make a key on \(curve.rawValue)")
    var key: OpaquePointer?
    try check(EVP_PKEY_generate(context, &key), "make a key")
    return SigningKey(KeyReference(taking: try made(key, "make a key")))
  }

  /// Decodes an unencrypted private key in PEM: PKCS#8 (`.p8`) or SEC 1.
  ///
  /// - Throws: ``CryptographyError/unreadable(what:detail:)`` for text that is no such key, or one with a passphrase.
  package convenience init(pem: String) throws(CryptographyError) {
    guard let block = PEM(parsing: pem) else {
      throw .unreadable(what: "a private key in PEM", detail: "")
    }
    let key = block.bytes.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_AutoPrivateKey(nil, &start, bytes.count)
    }
    guard let key else { throw .unreadable("a private key in PEM") }
    self.init(KeyReference(taking: key))
  }

  /// Returns the unencrypted private key in PEM (PKCS#8).
  ///
  /// - Throws: ``CryptographyError/failed(operation:detail:)`` without memory.
  package func pem() throws(CryptographyError) -> String {
    let info = try made(EVP_PKEY2PKCS8(reference.pointer), "write a private key")
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    let der = try encoded("write a private key") { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    return PEM(label: "PRIVATE KEY", bytes: der).text
  }

  /// Signs with ES256; returns r and s, 64 bytes. The key must be on P-256.
  ///
  /// - Throws: ``CryptographyError/failed(operation:detail:)`` for a key on another curve, or without memory.
  package func sign(_ message: ArraySlice<UInt8>) throws(CryptographyError) -> [UInt8] {
    let digest = SHA256.hash(message)
    let context = try made(EVP_PKEY_CTX_new_from_pkey(nil, reference.pointer, nil), "sign")
    defer { EVP_PKEY_CTX_free(context) }
    try check(EVP_PKEY_sign_init(context), "sign")
    var signature = [UInt8](repeating: 0, count: 128)
    var count = signature.count
    try check(EVP_PKEY_sign(context, &signature, &count, digest, digest.count), "sign")
    guard let signature = ECDSASignature(der: signature[..<count]) else {
      throw .failed(operation: "sign with ES256", detail: "the key is not on P-256")
    }
    return signature.raw
  }
}

/// Returns the DER that `write`, one of OpenSSL's `i2d` functions, encodes.
func encoded(
  _ operation: String, _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt
) throws(CryptographyError) -> [UInt8] {
  var buffer: UnsafeMutablePointer<UInt8>?
  let count = write(&buffer)
  defer { CRYPTO_free(buffer, nil, 0) }
  guard count > 0, let buffer else { throw .failed(operation: operation, detail: ErrorQueue.take()) }
  return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
}

extension SigningKey {
  /// Returns the coordinates of the public key, 32 bytes each, as in a JSON Web Key.
  ///
  /// - Throws: ``CryptographyError/failed(operation:detail:)`` for a key that is not on P-256.
  func publicPoint() throws(CryptographyError) -> (x: [UInt8], y: [UInt8]) {
    guard reference.isP256 else {
      throw .failed(operation: "write a public key", detail: "not on P-256")
    }
    return (try coordinate(OSSL_PKEY_PARAM_EC_PUB_X), try coordinate(OSSL_PKEY_PARAM_EC_PUB_Y))
  }

  /// A coordinate of the public point, as 32 bytes with leading zeros, as JWK has it.
  private func coordinate(_ name: String) throws(CryptographyError) -> [UInt8] {
    var number: OpaquePointer?
    try check(EVP_PKEY_get_bn_param(reference.pointer, name, &number), "write a public key")
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: 32)
    guard BN_bn2binpad(number, &bytes, 32) == 32 else {
      throw .failed(operation: "write a public key", detail: ErrorQueue.take())
    }
    return bytes
  }
}
