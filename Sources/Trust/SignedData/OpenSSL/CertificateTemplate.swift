internal import AppStore
internal import COpenSSL

/// The content of a certificate to issue.
struct CertificateTemplate {
  /// An extension in the notation of OpenSSL's configuration, such as `critical,CA:TRUE`.
  struct Extension {
    let nid: CInt
    let value: String
  }

  var subject: DistinguishedName
  var publicKey: KeyReference
  var notBefore: Instant
  var notAfter: Instant
  var extensions: [Extension]
  /// Object identifiers of marker extensions, whose value is NULL.
  var markers: [String] = []

  /// Signs the certificate; self-signed without an issuer.
  func signed(by key: SigningKey, issuer: Certificate?) throws(CryptographyError) -> Certificate {
    let operation = "make a certificate"
    let draft = try made(X509_new(), operation)
    defer { X509_free(draft) }
    try check(X509_set_version(draft, 2), operation)  // 2 stands for version 3.
    try setSerialNumber(of: draft)
    try check(X509_set_pubkey(draft, publicKey.pointer), operation)
    try setNames(of: draft, issuer: issuer)
    try setTime(X509_getm_notBefore(draft), notBefore)
    try setTime(X509_getm_notAfter(draft), notAfter)
    for item in extensions { try add(item, to: draft, issuer: issuer?.pointer ?? draft) }
    for marker in markers { try add(marker: marker, to: draft) }
    guard X509_sign(draft, key.reference.pointer, EVP_sha384()) > 0 else {
      throw .failed(operation: "sign a certificate", detail: ErrorQueue.take())
    }
    return try Certificate(der: encoded(operation) { i2d_X509(draft, $0) })
  }

  /// Sets 127 random bits: positive and unique.
  private func setSerialNumber(of draft: OpaquePointer) throws(CryptographyError) {
    var bytes = [UInt8](repeating: 0, count: 16)
    try check(RAND_bytes(&bytes, 16), "make a serial number")
    bytes[0] &= 0x7F
    let number = try made(BN_bin2bn(bytes, 16, nil), "make a serial number")
    defer { BN_free(number) }
    guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(draft)) != nil else {
      throw .failed(operation: "make a serial number", detail: ErrorQueue.take())
    }
  }

  /// Sets subject and issuer; without an issuer, the certificate is its own.
  private func setNames(of draft: OpaquePointer, issuer: Certificate?) throws(CryptographyError) {
    let name = try made(X509_NAME_new(), "make a name")
    defer { X509_NAME_free(name) }
    for attribute in subject.attributes {
      let value = Array(attribute.value.utf8)
      try check(
        X509_NAME_add_entry_by_txt(
          name, attribute.type, MBSTRING_UTF8, value, CInt(clamping: value.count), -1, 0),
        "write the name attribute \(attribute.type)")
    }
    try check(X509_set_subject_name(draft, name), "make a name")
    try check(
      X509_set_issuer_name(draft, issuer.map { X509_get_subject_name($0.pointer) } ?? name), "make a name")
  }

  private func setTime(_ time: UnsafeMutablePointer<ASN1_TIME>?, _ instant: Instant)
    throws(CryptographyError)
  {
    guard ASN1_TIME_set(time, Int(instant.millisecondsSince1970 / 1000)) != nil else {
      throw .failed(operation: "write a validity", detail: ErrorQueue.take())
    }
  }

  /// Adds an extension that OpenSSL knows by its number.
  private func add(_ item: Extension, to draft: OpaquePointer, issuer: OpaquePointer)
    throws(CryptographyError)
  {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, draft, nil, nil, 0)
    let made = try made(
      X509V3_EXT_conf_nid(nil, &context, item.nid, item.value), "make the extension \(item.value)")
    defer { X509_EXTENSION_free(made) }
    try check(X509_add_ext(draft, made, -1), "add an extension")
  }

  /// Adds an extension that Apple marks certificates with: its presence is all, so its value is NULL.
  private func add(marker: String, to draft: OpaquePointer) throws(CryptographyError) {
    let identifier = try made(OBJ_txt2obj(marker, 1), "read an object identifier")
    defer { ASN1_OBJECT_free(identifier) }
    guard let value = ASN1_OCTET_STRING_new() else {
      throw .failed(operation: "make an extension", detail: ErrorQueue.take())
    }
    defer { ASN1_OCTET_STRING_free(value) }
    try check(ASN1_OCTET_STRING_set(value, [0x05, 0x00], 2), "make an extension")  // ASN.1 NULL
    let made = try made(X509_EXTENSION_create_by_OBJ(nil, identifier, 0, value), "make an extension")
    defer { X509_EXTENSION_free(made) }
    try check(X509_add_ext(draft, made, -1), "add an extension")
  }
}

extension CertificateTemplate.Extension {
  static let certificateAuthority = Self(nid: NID_basic_constraints, value: "critical,CA:TRUE")
  static let lastCertificateAuthority = Self(nid: NID_basic_constraints, value: "critical,CA:TRUE,pathlen:0")
  static let endEntity = Self(nid: NID_basic_constraints, value: "critical,CA:FALSE")
  static let signsCertificates = Self(nid: NID_key_usage, value: "critical,keyCertSign,cRLSign")
  static let signsData = Self(nid: NID_key_usage, value: "critical,digitalSignature")
  static let subjectKey = Self(nid: NID_subject_key_identifier, value: "hash")
  static let authorityKey = Self(nid: NID_authority_key_identifier, value: "keyid:always")

  static let authenticatesServers = Self(nid: NID_ext_key_usage, value: "serverAuth")

  /// The names of a server, without duplicates.
  static func subjectNames(_ names: [String]) throws(CryptographyError) -> Self {
    var entries: [String] = []
    for name in names {
      // A comma or a newline would begin another entry in OpenSSL's notation.
      let isName =
        !name.isEmpty
        && name.utf8.allSatisfy { byte in
          UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || "-.:*_".utf8.contains(byte)
        }
      guard isName else { throw .failed(operation: "name a server '\(name)'", detail: "not a host name") }
      let isAddress = name.contains(":") || name.split(separator: ".").allSatisfy { UInt8($0) != nil }
      let entry = (isAddress ? "IP:" : "DNS:") + name
      if !entries.contains(entry) { entries.append(entry) }
    }
    return Self(nid: NID_subject_alt_name, value: entries.joined(separator: ","))
  }

  /// The address of the OCSP responder.
  static func ocspResponder(_ responder: String) -> Self {
    Self(nid: NID_info_access, value: "OCSP;URI:\(responder)")
  }
}
