package import AppStore
internal import Bytes
internal import COpenSSL

/// An X.509 certificate. Decoding one implies no trust.
// Unchecked: immutable after `init`; OpenSSL locks its internal caches.
package final class Certificate: @unchecked Sendable {
  let pointer: OpaquePointer

  /// The DER encoding.
  package let der: [UInt8]
  /// The start of the validity period.
  package let notBefore: Instant
  /// The end of the validity period, inclusive: the last millisecond of its second.
  package let notAfter: Instant

  /// Decodes DER without trailing bytes.
  ///
  /// - Throws: ``CryptographyError/unreadable(what:detail:)`` for bytes that are no X.509 certificate.
  package convenience init(der: [UInt8]) throws(CryptographyError) {
    let (certificate, used) = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let certificate = d2i_X509(nil, &start, bytes.count)
      return (certificate, bytes.baseAddress.flatMap { begin in start.map { $0 - begin } } ?? 0)
    }
    guard let certificate else { throw .unreadable("a certificate") }
    guard used == der.count else {
      X509_free(certificate)
      throw .unreadable(what: "a certificate", detail: "trailing bytes")
    }
    try self.init(taking: certificate, der: der)
  }

  /// Shares a certificate that was decoded as part of a message. Decoding it again would decode its key
  /// again, which takes longer than everything else.
  convenience init(sharing pointer: OpaquePointer?) throws(CryptographyError) {
    guard let pointer, X509_up_ref(pointer) == 1 else { throw .unreadable("a certificate") }
    let der: [UInt8]
    do { der = try encoded("write a certificate") { i2d_X509(pointer, $0) } } catch {
      X509_free(pointer)
      throw error
    }
    try self.init(taking: pointer, der: der)
  }

  /// Takes ownership of `certificate`.
  private init(taking certificate: OpaquePointer, der: [UInt8]) throws(CryptographyError) {
    guard let notBefore = Instant(X509_get0_notBefore(certificate)),
      let notAfter = Instant(X509_get0_notAfter(certificate))
    else {
      X509_free(certificate)
      throw .unreadable(what: "a certificate", detail: "malformed validity")
    }
    self.pointer = certificate
    self.der = der
    self.notBefore = notBefore
    self.notAfter = notAfter.advanced(byMilliseconds: 999)
  }

  /// Decodes the first block of a PEM text, which must be a `CERTIFICATE`.
  ///
  /// - Throws: ``CryptographyError/unreadable(what:detail:)`` for text that is no certificate in PEM.
  package convenience init(pem: String) throws(CryptographyError) {
    guard let block = PEM(parsing: pem), block.label == "CERTIFICATE" else {
      throw .unreadable(what: "a certificate in PEM", detail: "")
    }
    try self.init(der: block.bytes)
  }

  deinit { X509_free(pointer) }

  /// The PEM encoding.
  package var pem: String { PEM(label: "CERTIFICATE", bytes: der).text }

  /// The subject, such as `/CN=Apple Root CA - G3/O=Apple Inc./C=US`.
  package var subject: String {
    guard let text = X509_NAME_oneline(X509_get_subject_name(pointer), nil, 0) else { return "" }
    defer { CRYPTO_free(text, nil, 0) }
    return String(cString: text)
  }

  /// Returns the certified key, of any algorithm.
  func publicKey() throws(CryptographyError) -> KeyReference {
    guard let key = X509_get_pubkey(pointer) else { throw .unreadable("a certificate's public key") }
    return KeyReference(taking: key)
  }

  /// Whether it has the extension with the object identifier `identifier`, with any value.
  func hasExtension(_ identifier: String) -> Bool {
    guard let object = OBJ_txt2obj(identifier, 1) else { return false }
    defer { ASN1_OBJECT_free(object) }
    return X509_get_ext_by_OBJ(pointer, object, -1) >= 0
  }
}

extension Instant {
  /// Converts an OpenSSL time; `nil` if it is malformed.
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
  /// Whether `issuer` matches this certificate's issuer by name and key identifier. Does not verify the
  /// signature.
  package func names(issuer: Certificate) -> Bool {
    X509_check_issued(issuer.pointer, pointer) == X509_V_OK
  }

  /// Whether both have one subject, as a renewed or an imitated root does.
  func hasSameSubject(as other: Certificate) -> Bool {
    X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_subject_name(other.pointer)) == 0
  }

  /// Whether subject and issuer are equal.
  var isSelfIssued: Bool {
    X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
  }
}

extension Certificate {
  /// The OCSP responder (RFC 6960): the first `http` address in the authority information access extension.
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

  /// Returns the OCSP identifier: digests of the issuer's name and key, and the serial number. The caller
  /// frees it. SHA-1 only identifies here, and every responder supports it.
  func ocspIdentifier(issuer: Certificate) throws(CryptographyError) -> OpaquePointer {
    try made(OCSP_cert_to_id(EVP_sha1(), pointer, issuer.pointer), "create an OCSP identifier")
  }
}

extension Certificate {
  /// The issuer, such as `/CN=Apple Root CA - G3/O=Apple Inc./C=US`.
  package var issuer: String {
    guard let text = X509_NAME_oneline(X509_get_issuer_name(pointer), nil, 0) else { return "" }
    defer { CRYPTO_free(text, nil, 0) }
    return String(cString: text)
  }

  /// Whether it names `host`, a DNS name or an IP address, in the way of TLS servers (RFC 6125).
  package func isIssued(for host: String) -> Bool {
    X509_check_host(pointer, host, host.utf8.count, 0, nil) == 1 || X509_check_ip_asc(pointer, host, 0) == 1
  }

  /// Returns the SHA-256 of the DER encoding.
  package func fingerprint() -> [UInt8] { SHA256.hash(der[...]) }
}

extension Certificate {
  /// The serial number, in lowercase hexadecimal digits.
  package var serialNumber: String {
    X509_get0_serialNumber(pointer).map { Self.digits(of: $0) } ?? ""
  }

  static func digits(of number: UnsafePointer<ASN1_INTEGER>) -> String {
    Hex.encode(UnsafeBufferPointer(start: number.pointee.data, count: Int(max(0, number.pointee.length))))
  }
}
