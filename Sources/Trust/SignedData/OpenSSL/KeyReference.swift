internal import COpenSSL

/// Owns one `EVP_PKEY`.
final class KeyReference: @unchecked Sendable {
  // Unchecked: the key is never changed after `init`, and OpenSSL locks its internal caches.
  let pointer: OpaquePointer

  /// Takes ownership of `pointer`.
  init(taking pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// Reads a public key (DER, SubjectPublicKeyInfo).
  static func publicKey(der: [UInt8]) throws(CryptographyError) -> KeyReference {
    let key = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_PUBKEY(nil, &start, bytes.count)
    }
    guard let key else { throw .unreadable("a public key") }
    return KeyReference(taking: key)
  }

  /// Whether it is an elliptic-curve key on P-256.
  var isP256: Bool { groupName == "prime256v1" }

  private var groupName: String? {
    var name = [CChar](repeating: 0, count: 64)
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else {
      ERR_clear_error()
      return nil
    }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether `signature` (DER for an elliptic curve, PKCS#1 v1.5 for RSA) is this key's signature of the SHA-256
  /// hash of `message`.
  func verifies(_ signature: [UInt8], ofHashed message: ArraySlice<UInt8>) throws(CryptographyError) -> Bool {
    let context = try made(EVP_MD_CTX_new(), "prepare signature verification")
    defer { EVP_MD_CTX_free(context) }
    try check(
      EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, pointer, nil),
      "prepare signature verification")
    let message = Array(message)
    let result = EVP_DigestVerify(context, signature, signature.count, message, message.count)
    // OpenSSL queues an error for an invalid signature; here that is a result, not a failure.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }

  /// The key size in bits: for RSA, that of the modulus.
  var bits: Int { Int(EVP_PKEY_get_bits(pointer)) }
}
