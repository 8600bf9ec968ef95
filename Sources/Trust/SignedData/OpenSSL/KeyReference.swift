internal import COpenSSL

/// Owns one `EVP_PKEY`.
final class KeyReference: @unchecked Sendable {
  // Unchecked: the key is never changed after it was made, and OpenSSL locks what it caches inside.
  let pointer: OpaquePointer

  /// Takes `pointer` over.
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

  /// The point of an elliptic-curve key, as SEC 1 section 2.3.3 writes it.
  var encodedPoint: [UInt8] {
    get throws(CryptographyError) {
      var length = 0
      try check(
        EVP_PKEY_get_octet_string_param(pointer, OSSL_PKEY_PARAM_PUB_KEY, nil, 0, &length),
        "read the point of a key")
      var point = [UInt8](repeating: 0, count: length)
      try check(
        EVP_PKEY_get_octet_string_param(pointer, OSSL_PKEY_PARAM_PUB_KEY, &point, length, &length),
        "read the point of a key")
      return point
    }
  }

  private var groupName: String? {
    var name = [CChar](repeating: 0, count: 64)
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else {
      ERR_clear_error()
      return nil
    }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
