internal import COpenSSL

/// SHA-256 (FIPS 180-4), computed by OpenSSL.
package enum SHA256 {
  /// The size of a digest in bytes.
  package static let byteCount = 32

  /// Returns the 32 bytes of the digest of `message`.
  ///
  /// Hashing bytes in memory fails only without memory, or with an OpenSSL that lacks the algorithm and could
  /// verify nothing; the process stops then, as it does when Swift cannot allocate.
  package static func hash(_ message: ArraySlice<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    let result = message.withUnsafeBytes { bytes in
      EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, algorithm.pointer, nil)
    }
    precondition(result == 1, "OpenSSL cannot compute SHA-256")
    return digest
  }

  /// Fetching an algorithm costs as much as hashing a kilobyte, so it is done once.
  private static let algorithm = FetchedDigest(name: "SHA256")
}

/// SHA-384 (FIPS 180-4), only for the device hash of app transactions.
package enum SHA384 {
  /// Returns the 48 bytes of the digest of `message`. It fails only when ``SHA256/hash(_:)`` does.
  package static func hash(_ message: ArraySlice<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 48)
    let result = message.withUnsafeBytes { bytes in
      EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha384(), nil)
    }
    precondition(result == 1, "OpenSSL cannot compute SHA-384")
    return digest
  }
}

/// A fetched algorithm of OpenSSL; lives as long as the process.
// Unchecked: OpenSSL's fetched algorithms are immutable and shared between threads by design.
private final class FetchedDigest: @unchecked Sendable {
  let pointer: OpaquePointer?

  init(name: String) { pointer = EVP_MD_fetch(nil, name, nil) }

  deinit { EVP_MD_free(pointer) }
}

/// SHA-1, only for the device hash of app receipts.
package enum SHA1 {
  /// Returns the 20 bytes of the digest of `message`.
  package static func hash(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    try check(EVP_Digest(message, message.count, &digest, nil, EVP_sha1(), nil), "hash a message")
    return digest
  }
}

/// HMAC-SHA256 (RFC 2104).
package enum HMACSHA256 {
  private static let byteCount = 32

  /// Returns the 32 bytes of the authentication code. It fails only when ``SHA256/hash(_:)`` does.
  package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: byteCount)
    var written = 0
    let result = EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &written)
    precondition(result != nil && written == byteCount, "OpenSSL cannot compute HMAC-SHA256")
    return code
  }
}
