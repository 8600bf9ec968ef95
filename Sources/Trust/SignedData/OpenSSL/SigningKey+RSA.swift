internal import COpenSSL

extension SigningKey {
  /// Makes a new RSA key of 2048 bits, which is what receipts are signed with. Takes a tenth of a second.
  package static func generateRSA() throws(CryptographyError) -> SigningKey {
    let context = try made(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil), "make a key")
    defer { EVP_PKEY_CTX_free(context) }
    try check(EVP_PKEY_keygen_init(context), "make a key")
    try check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048), "make an RSA key")
    var key: OpaquePointer?
    try check(EVP_PKEY_generate(context, &key), "make a key")
    return SigningKey(KeyReference(taking: try made(key, "make a key")))
  }
}
