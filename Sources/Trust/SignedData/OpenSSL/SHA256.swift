internal import COpenSSL

/// The hash under every ES256 signature, of what must be compared but not kept, and of evidence.
package enum SHA256 {
  /// How long every hash is.
  package static let byteCount = 32

  /// The 32 bytes of the hash of `message`.
  package static func hash(_ message: ArraySlice<UInt8>) throws(CryptographyError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    let result = message.withUnsafeBytes { bytes in
      EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, algorithm.pointer, nil)
    }
    try check(result, "hash a message")
    return digest
  }

  /// Looking an algorithm up costs as much as hashing a kilobyte, so it is done once.
  private static let algorithm = FetchedDigest(name: "SHA256")
}

/// An algorithm that OpenSSL has looked up; lives as long as the program.
private final class FetchedDigest: @unchecked Sendable {
  // Unchecked: OpenSSL's fetched algorithms are immutable and shared between threads by design.
  let pointer: OpaquePointer?

  init(name: String) { pointer = EVP_MD_fetch(nil, name, nil) }

  deinit { EVP_MD_free(pointer) }
}
