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
private final class VerificationContext: @unchecked Sendable {
  // Unchecked: only the thread that took it out of the pool uses it.
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
