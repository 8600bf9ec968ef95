internal import COpenSSL

/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D), computed by OpenSSL.
package enum AES256GCM {
  /// The size of a key in bytes.
  package static let keyByteCount = 32
  private static let nonceByteCount = 12
  private static let tagByteCount = 16

  /// Returns `content` encrypted with `key`: a random nonce, the encrypted bytes and their tag. It fails only when
  /// ``SHA256/hash(_:)`` does.
  package static func seal(_ content: [UInt8], key: [UInt8]) -> [UInt8] {
    precondition(key.count == keyByteCount, "a key of AES-256 has 32 bytes")
    var generator = SystemRandomNumberGenerator()
    let nonce = (0..<nonceByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var encrypted = [UInt8](repeating: 0, count: content.count)
    var tag = [UInt8](repeating: 0, count: tagByteCount)
    var (written, rest): (CInt, CInt) = (0, 0)
    // The mode has no padding, so the end adds no bytes; it needs room for them anyway.
    var end = tag
    let isSealed =
      EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
      && EVP_EncryptUpdate(context, &encrypted, &written, content, CInt(content.count)) == 1
      && EVP_EncryptFinal_ex(context, &end, &rest) == 1
      && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tagByteCount), &tag) == 1
    precondition(isSealed && written == content.count && rest == 0, "OpenSSL cannot encrypt with AES-256-GCM")
    return nonce + encrypted + tag
  }

  /// Returns the content of `sealed`; `nil` if it was encrypted with another key, or changed.
  package static func open(_ sealed: ArraySlice<UInt8>, key: [UInt8]) -> [UInt8]? {
    guard key.count == keyByteCount, sealed.count >= nonceByteCount + tagByteCount else { return nil }
    let nonce = Array(sealed.prefix(nonceByteCount))
    let encrypted = Array(sealed.dropFirst(nonceByteCount).dropLast(tagByteCount))
    var tag = Array(sealed.suffix(tagByteCount))
    let context = EVP_CIPHER_CTX_new()
    defer {
      EVP_CIPHER_CTX_free(context)
      // A wrong tag is no error of a later operation.
      _ = ErrorQueue.take()
    }
    var content = [UInt8](repeating: 0, count: encrypted.count)
    var (written, rest): (CInt, CInt) = (0, 0)
    var end = tag
    guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
      EVP_DecryptUpdate(context, &content, &written, encrypted, CInt(encrypted.count)) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(tagByteCount), &tag) == 1,
      EVP_DecryptFinal_ex(context, &end, &rest) == 1, written == content.count
    else { return nil }
    return content
  }
}
