internal import COpenSSL

/// The hash by which app receipts tie themselves to a device. Weak, and used for nothing else.
package enum SHA1 {
  /// The 20 bytes that stand for `message`.
  package static func hash(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    try check(EVP_Digest(message, message.count, &digest, nil, EVP_sha1(), nil), "hash a message")
    return digest
  }
}
