internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104): what two who share a secret know each other's messages by.
package enum HMACSHA256 {
  private static let byteCount = 32

  /// The 32 bytes that only who has the key can work out.
  package static func code(of message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: byteCount)
    var written = 0
    let result = EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &written)
    try check(result != nil && written == byteCount ? 1 : 0, "authenticate a message")
    return code
  }
}
