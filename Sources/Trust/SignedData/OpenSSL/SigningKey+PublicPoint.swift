internal import COpenSSL

extension SigningKey {
  /// The public half as the point that it is, its coordinates 32 bytes each: what a JSON Web Key has.
  ///
  /// - Throws: ``CryptographyError/failed(operation:detail:)`` for a key that is not on P-256.
  func publicPoint() throws(CryptographyError) -> (x: [UInt8], y: [UInt8]) {
    guard reference.isP256 else {
      throw .failed(operation: "write a public key", detail: "it is not on P-256")
    }
    return (try coordinate(OSSL_PKEY_PARAM_EC_PUB_X), try coordinate(OSSL_PKEY_PARAM_EC_PUB_Y))
  }

  private func coordinate(_ name: String) throws(CryptographyError) -> [UInt8] {
    var number: OpaquePointer?
    try check(EVP_PKEY_get_bn_param(reference.pointer, name, &number), "write a public key")
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: 32)
    guard BN_bn2binpad(number, &bytes, 32) == 32 else {
      throw .failed(operation: "write a public key", detail: ErrorQueue.take())
    }
    return bytes
  }
}
