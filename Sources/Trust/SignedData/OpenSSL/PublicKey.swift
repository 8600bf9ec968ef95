internal import COpenSSL
internal import Synchronization

/// A P-256 key that checks ES256 signatures, on any number of threads at once.
///
/// A key that is met often is prepared, in the background: from then on a check costs half.
final class PublicKey: Sendable {
  /// After so many checks a table for the key is soon paid for: making it costs as much as 400 checks.
  static let checksBeforePreparing = 1_000

  /// Contexts that no thread is using now. Preparing one costs a few microseconds; the lock is held
  /// to take one out and to put it back, never during a check.
  private let idle = Mutex<[VerificationContext]>([])
  private let key: KeyReference
  private let checks = Atomic(0)
  private let prepared = Mutex<PreparedKey?>(nil)

  /// Takes `key` over. `nil` if it is not a key on P-256, the only curve of ES256.
  init?(_ key: KeyReference) {
    guard key.isP256 else { return nil }
    self.key = key
  }

  /// Whether checks cost half by now.
  var isPrepared: Bool { prepared.withLock { $0 != nil } }

  /// Makes the table that halves the cost of a check; takes some 40 ms.
  func prepare() throws(CryptographyError) {
    let table = try PreparedKey(encodedPoint: try key.encodedPoint)
    prepared.withLock { $0 = table }
  }

  /// Whether `signature` (r and s, 32 bytes each, RFC 7518 section 3.4) is this key's for `message`.
  func verifies(_ signature: ArraySlice<UInt8>, of message: ArraySlice<UInt8>) throws(CryptographyError)
    -> Bool
  {
    guard let signature = ECDSASignature(raw: signature) else { return false }
    let digest = try SHA256.hash(message)
    if let table = prepared.withLock({ $0 }) { return try table.verifies(signature, of: digest) }
    prepareIfMetOften()
    let idleContext = idle.withLock { $0.popLast() }
    let context = if let idleContext { idleContext } else { try VerificationContext(key: key) }
    let isValid = context.verifies(signature.der, of: digest)
    idle.withLock { $0.append(context) }
    return isValid
  }

  private func prepareIfMetOften() {
    let count = checks.add(1, ordering: .relaxed).newValue
    guard count == Self.checksBeforePreparing else { return }
    // Without the table all goes on as before, only slower: no reason to refuse anything.
    Task.detached(priority: .utility) { try? self.prepare() }
  }
}

/// A check with one key, made once and used often.
private final class VerificationContext: @unchecked Sendable {
  // Unchecked: only the thread that took it out of the pool uses it.
  private let context: OpaquePointer

  init(key: KeyReference) throws(CryptographyError) {
    context = try made(
      EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "prepare the check of a signature")
    try check(EVP_PKEY_verify_init(context), "prepare the check of a signature")
  }

  deinit { EVP_PKEY_CTX_free(context) }

  func verifies(_ signature: [UInt8], of digest: [UInt8]) -> Bool {
    let result = EVP_PKEY_verify(context, signature, signature.count, digest, digest.count)
    // A wrong signature leaves its reason in the queue; it is the answer, not an error.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }
}
