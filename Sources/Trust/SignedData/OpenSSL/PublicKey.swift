internal import COpenSSL
internal import Synchronization

/// A P-256 key that verifies ES256 signatures, on any number of threads at once.
final class PublicKey: Sendable {
  /// Contexts that no thread uses at the moment. Initializing one takes a few microseconds; the lock is held
  /// to take one out and to put it back, never during a verification.
  private let idle = Mutex<[VerificationContext]>([])
  private let key: KeyReference

  /// Takes ownership of `key`. `nil` if it is not a key on P-256, the only curve of ES256.
  init?(_ key: KeyReference) {
    guard key.isP256 else { return nil }
    self.key = key
  }

  /// Whether `signature` (r and s, 32 bytes each, RFC 7518 section 3.4) is this key's signature of `message`.
  func verifies(_ signature: ArraySlice<UInt8>, of message: ArraySlice<UInt8>) throws(CryptographyError)
    -> Bool
  {
    guard let signature = ECDSASignature(raw: signature) else { return false }
    let digest = SHA256.hash(message)
    let idleContext = idle.withLock { $0.popLast() }
    let context = if let idleContext { idleContext } else { try VerificationContext(key: key) }
    let isValid = context.verifies(signature.der, of: digest)
    idle.withLock { $0.append(context) }
    return isValid
  }
}

/// An OpenSSL verification context for one key, initialized once and reused.
// Unchecked: only the thread that took it out of the pool uses it.
private final class VerificationContext: @unchecked Sendable {
  private let context: OpaquePointer

  init(key: KeyReference) throws(CryptographyError) {
    context = try made(
      EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "prepare signature verification")
    try check(EVP_PKEY_verify_init(context), "prepare signature verification")
  }

  deinit { EVP_PKEY_CTX_free(context) }

  func verifies(_ signature: [UInt8], of digest: [UInt8]) -> Bool {
    let result = EVP_PKEY_verify(context, signature, signature.count, digest, digest.count)
    // OpenSSL queues an error for an invalid signature; here that is a result, not a failure.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }
}

/// An owned `EVP_PKEY`.
// Unchecked: the key is never changed after `init`, and OpenSSL locks its internal caches.
final class KeyReference: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes ownership of `pointer`.
  init(taking pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// Decodes a public key (DER, SubjectPublicKeyInfo).
  static func publicKey(der: [UInt8]) throws(CryptographyError) -> KeyReference {
    let key = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_PUBKEY(nil, &start, bytes.count)
    }
    guard let key else { throw .unreadable("a public key") }
    return KeyReference(taking: key)
  }

  /// Whether the key is on the curve P-256.
  var isP256: Bool { groupName == "prime256v1" }

  private var groupName: String? {
    var name = [CChar](repeating: 0, count: 64)
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else {
      ERR_clear_error()
      return nil
    }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether `signature` (DER for an elliptic curve, PKCS#1 v1.5 for RSA) is this key's signature of the
  /// SHA-256 hash of `message`.
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

/// Verifies ES256 signatures with a known key, such as those of Server API tokens.
package struct ES256Verifier: Sendable {
  private let key: PublicKey

  /// A verifier with a public key on P-256 (PEM, SubjectPublicKeyInfo).
  ///
  /// - Throws: ``CryptographyError/unreadable(what:detail:)`` for text that is no public key on P-256 in PEM.
  package init(publicKeyPEM pem: String) throws(CryptographyError) {
    guard let block = PEM(parsing: pem), let key = PublicKey(try KeyReference.publicKey(der: block.bytes))
    else {
      throw .unreadable(what: "a public key on P-256 in PEM", detail: "")
    }
    self.key = key
  }

  /// Whether a JWS in compact serialization has this key's signature. Ignores its header and claims.
  /// False for a text that is no JWS.
  package func verifies(jws text: String) throws(CryptographyError) -> Bool {
    guard let jws = try? CompactJWS(text), let signature = try? jws.decodedSignature() else { return false }
    return try key.verifies(signature[...], of: jws.signingInput)
  }

  /// Whether `signature`, in DER as in StoreKit 1 offers, is this key's signature of `message`.
  /// False for bytes that are no such signature.
  package func verifies(der signature: [UInt8], of message: [UInt8]) throws(CryptographyError) -> Bool {
    guard let signature = ECDSASignature(der: signature[...]) else { return false }
    return try key.verifies(signature.raw[...], of: message[...])
  }
}
