package import AppStore
internal import COpenSSL

/// One X.509 certificate. Reading one says nothing about whether to trust it.
package final class Certificate: @unchecked Sendable {
  // Unchecked: never changed after it was made; OpenSSL locks what it caches inside.
  let pointer: OpaquePointer

  /// The certificate as it travels.
  package let der: [UInt8]
  /// Valid from here ...
  package let notBefore: Instant
  /// ... to the last millisecond of this second.
  package let notAfter: Instant

  /// Reads DER that has nothing after it.
  package convenience init(der: [UInt8]) throws(CryptographyError) {
    let (certificate, used) = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let certificate = d2i_X509(nil, &start, bytes.count)
      return (certificate, bytes.baseAddress.flatMap { begin in start.map { $0 - begin } } ?? 0)
    }
    guard let certificate else { throw .unreadable("a certificate") }
    guard used == der.count else {
      X509_free(certificate)
      throw .unreadable(what: "a certificate", detail: "bytes after its end")
    }
    try self.init(taking: certificate, der: der)
  }

  /// A certificate that was read as a part of something else, and goes on without it. To read it once more would be to
  /// decode its key once more, which takes longer than all the rest.
  convenience init(sharing pointer: OpaquePointer?) throws(CryptographyError) {
    guard let pointer, X509_up_ref(pointer) == 1 else { throw .unreadable("a certificate") }
    let der: [UInt8]
    do { der = try encoded("write a certificate") { i2d_X509(pointer, $0) } } catch {
      X509_free(pointer)
      throw error
    }
    try self.init(taking: pointer, der: der)
  }

  /// Takes over a certificate of OpenSSL's, and lets go of it.
  private init(taking certificate: OpaquePointer, der: [UInt8]) throws(CryptographyError) {
    guard let notBefore = Instant(X509_get0_notBefore(certificate)),
      let notAfter = Instant(X509_get0_notAfter(certificate))
    else {
      X509_free(certificate)
      throw .unreadable(what: "a certificate", detail: "its validity is not a time")
    }
    self.pointer = certificate
    self.der = der
    self.notBefore = notBefore
    self.notAfter = notAfter.advanced(byMilliseconds: 999)
  }

  /// Reads the first `CERTIFICATE` block of a PEM text.
  package convenience init(pem: String) throws(CryptographyError) {
    guard let block = PEM(parsing: pem), block.label == "CERTIFICATE" else {
      throw .unreadable(what: "a certificate in PEM", detail: "")
    }
    try self.init(der: block.bytes)
  }

  deinit { X509_free(pointer) }

  /// The certificate in PEM.
  package var pem: String { PEM(label: "CERTIFICATE", bytes: der).text }

  /// Whose it is, such as `/CN=Apple Root CA - G3/O=Apple Inc./C=US`.
  package var subject: String {
    guard let text = X509_NAME_oneline(X509_get_subject_name(pointer), nil, 0) else { return "" }
    defer { CRYPTO_free(text, nil, 0) }
    return String(cString: text)
  }

  /// The key it certifies, in whatever algorithm.
  func publicKey() throws(CryptographyError) -> KeyReference {
    guard let key = X509_get_pubkey(pointer) else { throw .unreadable("a certificate's public key") }
    return KeyReference(taking: key)
  }

  /// Whether it carries an extension, whatever the extension's value.
  func hasExtension(_ identifier: String) -> Bool {
    guard let object = OBJ_txt2obj(identifier, 1) else { return false }
    defer { ASN1_OBJECT_free(object) }
    return X509_get_ext_by_OBJ(pointer, object, -1) >= 0
  }
}

extension Instant {
  /// `nil` if OpenSSL cannot read the time.
  init?(_ time: UnsafePointer<ASN1_TIME>?) {
    guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
    defer { ASN1_STRING_free(epoch) }
    var days: CInt = 0
    var seconds: CInt = 0
    guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
    self.init(millisecondsSince1970: (Int64(days) * 86_400 + Int64(seconds)) * 1000)
  }
}

extension Certificate {
  /// Whether `issuer` is, by name and key identifier, the authority that this certificate names as its
  /// own. No signature is looked at.
  func names(issuer: Certificate) -> Bool {
    X509_check_issued(issuer.pointer, pointer) == X509_V_OK
  }

  /// Whether it names itself as its issuer.
  var isSelfIssued: Bool {
    X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
  }
}

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

extension Certificate {
  /// Who certified it, such as `/CN=Apple Root CA - G3/O=Apple Inc./C=US`.
  package var issuer: String {
    guard let text = X509_NAME_oneline(X509_get_issuer_name(pointer), nil, 0) else { return "" }
    defer { CRYPTO_free(text, nil, 0) }
    return String(cString: text)
  }

  /// The SHA-256 of its DER: what people compare certificates by.
  package func fingerprint() -> [UInt8] { SHA256.hash(der[...]) }
}
