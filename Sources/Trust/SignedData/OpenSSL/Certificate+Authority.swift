internal import COpenSSL

extension Certificate {
  /// Where its authority says whether it still counts (OCSP, RFC 6960): the first `http` address in its
  /// authority information access. `nil` if it names none.
  package var ocspResponder: String? {
    guard let addresses = X509_get1_ocsp(pointer) else { return nil }
    defer { X509_email_free(addresses) }
    for index in 0..<max(0, OPENSSL_sk_num(addresses)) {
      guard let text = OPENSSL_sk_value(addresses, index) else { continue }
      let address = String(cString: text.assumingMemoryBound(to: CChar.self))
      if address.hasPrefix("http://") { return address }
    }
    return nil
  }

  /// What OCSP calls the certificate: a digest of its issuer's name and key, and its serial number. The
  /// caller frees it. SHA-1 only names here, and is what every responder understands.
  func ocspIdentifier(issuer: Certificate) throws(CryptographyError) -> OpaquePointer {
    try made(OCSP_cert_to_id(EVP_sha1(), pointer, issuer.pointer), "name a certificate for OCSP")
  }
}
