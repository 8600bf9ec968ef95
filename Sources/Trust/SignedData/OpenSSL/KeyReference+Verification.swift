internal import COpenSSL

extension KeyReference {
  /// Whether `signature`, as OpenSSL has it (DER for an elliptic curve, PKCS#1 v1.5 for RSA), is this key's for
  /// the SHA-256 hash of `message`.
  func verifies(_ signature: [UInt8], ofHashed message: ArraySlice<UInt8>) throws(CryptographyError) -> Bool {
    let context = try made(EVP_MD_CTX_new(), "prepare the check of a signature")
    defer { EVP_MD_CTX_free(context) }
    try check(
      EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, pointer, nil),
      "prepare the check of a signature")
    let message = Array(message)
    let result = EVP_DigestVerify(context, signature, signature.count, message, message.count)
    // A wrong signature leaves its reason in the queue; it is the answer, not an error.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }

  /// The bits of the key: of the modulus for RSA.
  var bits: Int { Int(EVP_PKEY_get_bits(pointer)) }
}
