internal import COpenSSL

/// PKCS#7 signed data with one signer (RFC 5652), in DER or BER, as in app receipts. Decoding one implies no
/// trust.
struct PKCS7Message {
  private let message: MessageReference
  private let signerInfo: OpaquePointer

  /// The signed content.
  let content: [UInt8]
  /// The certificates in the message, in order.
  let certificates: [Certificate]

  /// Apple's messages have three: signer, intermediate and root.
  private static let maximumCertificates = 8
  /// Apple's certificates have at most 2 KB. OpenSSL decodes their extensions when it looks for an issuer.
  private static let maximumCertificateBytes = 16 << 10
  /// Apple's messages have about 250 elements that are no OCTET STRING.
  private static let maximumElements = 2000
  /// Constructed content has one OCTET STRING for each chunk.
  private static let maximumChunks = 50_000

  init(_ document: [UInt8]) throws(VerificationError) {
    let bytes = Self.unwrapped(document)
    guard !ASN1ElementCounter.exceeds(Self.maximumElements, besides: .octetStrings, in: bytes) else {
      throw .tooMany("elements", limit: Self.maximumElements)
    }
    guard !ASN1ElementCounter.exceeds(Self.maximumChunks, in: bytes) else {
      throw .tooMany("elements", limit: Self.maximumChunks)
    }
    message = try MessageReference(reading: bytes)
    content = try Self.content(of: message.pointer)
    certificates = try Self.certificates(of: message.pointer)
    signerInfo = try Self.signer(of: message.pointer)
  }

  /// The signer's certificate; `nil` if the message lacks it.
  var signer: Certificate? {
    certificates.first { CMS_SignerInfo_cert_cmp(signerInfo, $0.pointer) == 0 }
  }

  /// The digest algorithm by OpenSSL's short name, such as `SHA256`.
  var digest: String {
    var algorithm: UnsafeMutablePointer<X509_ALGOR>?
    CMS_SignerInfo_get0_algs(signerInfo, nil, nil, &algorithm, nil)
    var identifier: OpaquePointer?
    X509_ALGOR_get0(&identifier, nil, nil, algorithm)
    return OBJ_nid2sn(OBJ_obj2nid(identifier)).map { String(cString: $0) } ?? ""
  }

  /// Whether the message has a valid signature by the certificate's key. Ignores the certificate's issuer,
  /// purpose and dates.
  func isSigned(by certificate: Certificate) -> Bool {
    // Set explicitly, because two certificates in the message can match the signer's name.
    CMS_SignerInfo_set1_signer_cert(signerInfo, certificate.pointer)
    // Not CMS_verify: it hashes the content once for each digest algorithm that the message lists, a thousand times if a
    // stranger wrote the list. The signature has one.
    let isValid = hasValidAttributes && hasValidContent
    // OpenSSL queues an error for an invalid signature; here that is a result, not a failure.
    if !isValid { ERR_clear_error() }
    return isValid
  }

  /// Whether the signed attributes have a valid signature; true without attributes, as in Apple's messages.
  private var hasValidAttributes: Bool {
    CMS_signed_get_attr_count(signerInfo) < 0 || CMS_SignerInfo_verify(signerInfo) == 1
  }

  /// Whether the digest of the content is the one in the signed attributes or, without attributes, the signed one.
  private var hasValidContent: Bool {
    guard let algorithm = EVP_get_digestbyname(digest), let hash = BIO_new(BIO_f_md()) else { return false }
    defer { BIO_free_all(hash) }
    guard let sink = BIO_new(BIO_s_null()) else { return false }
    BIO_push(hash, sink)
    var written = 0
    return BIO_ctrl(hash, BIO_C_SET_MD, 0, UnsafeMutableRawPointer(algorithm)) == 1
      && (content.isEmpty || BIO_write_ex(hash, content, content.count, &written) == 1)
      && CMS_SignerInfo_verify_content(signerInfo, hash) == 1
  }

  /// Returns the content of the OCTET STRING that wraps some receipts, otherwise the document itself.
  private static func unwrapped(_ document: [UInt8]) -> [UInt8] {
    // The identifiers of a primitive and a constructed OCTET STRING.
    guard document.first == 0x04 || document.first == 0x24 else { return document }
    let string = document.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_ASN1_OCTET_STRING(nil, &start, bytes.count)
    }
    guard let string else {
      ERR_clear_error()
      return document
    }
    defer { ASN1_STRING_free(string) }
    guard let start = ASN1_STRING_get0_data(string) else { return [] }
    return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
  }

  /// The bytes that are signed. A receipt contains them; a detached signature has no content to read.
  private static func content(of message: OpaquePointer) throws(VerificationError) -> [UInt8] {
    guard OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed else {
      throw .notAReceipt("PKCS#7, but not signed data")
    }
    guard OBJ_obj2nid(CMS_get0_eContentType(message)) == NID_pkcs7_data else {
      throw .notAReceipt("the signed content is not plain data")
    }
    guard let content = CMS_get0_content(message)?.pointee, let start = ASN1_STRING_get0_data(content) else {
      ERR_clear_error()
      throw .notAReceipt("the signed content is detached")
    }
    return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(content))))
  }

  /// The certificates that the message contains, in its order. They are not trusted yet.
  private static func certificates(of message: OpaquePointer) throws(VerificationError) -> [Certificate] {
    let list = CMS_get1_certs(message)
    defer { entitled_certificates_release(list) }
    let count = max(0, Int(entitled_certificates_count(list)))
    guard count <= maximumCertificates else { throw .wrongCertificateCount(count) }
    var certificates: [Certificate] = []
    for position in 0..<count {
      let pointer = entitled_certificates_at(list, CInt(position))
      let certificate: Certificate
      do { certificate = try Certificate(sharing: pointer) } catch {
        throw .malformedCertificate(position: position, detail: error.description)
      }
      guard certificate.der.count <= maximumCertificateBytes else {
        throw .malformedCertificate(position: position, detail: "more than \(maximumCertificateBytes) bytes")
      }
      certificates.append(certificate)
    }
    return certificates
  }

  private static func signer(of message: OpaquePointer) throws(VerificationError) -> OpaquePointer {
    let count = entitled_signers_count(message)
    guard count == 1, let signer = entitled_signers_first(message) else {
      throw .notAReceipt("expected one signer, found \(count)")
    }
    return signer
  }
}

/// An owned `CMS_ContentInfo`.
private final class MessageReference {
  let pointer: OpaquePointer

  /// Decodes DER or BER without trailing bytes.
  init(reading bytes: [UInt8]) throws(VerificationError) {
    let (message, used) = bytes.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let message = d2i_CMS_ContentInfo(nil, &start, bytes.count)
      return (message, bytes.baseAddress.flatMap { begin in start.map { $0 - begin } } ?? 0)
    }
    guard let message else { throw .notAReceipt("not PKCS#7 (\(ErrorQueue.take()))") }
    guard used == bytes.count else {
      CMS_ContentInfo_free(message)
      throw .notAReceipt("trailing bytes")
    }
    pointer = message
  }

  deinit { CMS_ContentInfo_free(pointer) }
}

/// Counts the elements of BER before a parser allocates memory for each.
///
/// An element can be two bytes long and costs a parser a hundred: without the limit, a receipt of some
/// megabytes would need hundreds of megabytes.
package enum ASN1ElementCounter {
  /// The elements that are not counted.
  package enum Exception {
    case none
    case octetStrings
  }

  /// Whether `bytes` have more than `limit` elements at any depth. Counting stops at malformed bytes, which
  /// the parser rejects.
  package static func exceeds(
    _ limit: Int, besides exception: Exception = .none, in bytes: [UInt8]
  ) -> Bool {
    var rest = bytes[...]
    var count = 0
    while let header = ElementHeader(readingFrom: &rest) {
      if exception == .none || !header.isOctetString { count += 1 }
      guard count <= limit else { return true }
      // The content of a constructed element comes next and is counted; primitive content is skipped.
      if !header.isConstructed { rest = rest.dropFirst(header.length) }
    }
    return false
  }
}

/// The identifier and length of an element (X.690, section 8.1).
private struct ElementHeader {
  let isConstructed: Bool
  let isOctetString: Bool
  /// 0 for an indefinite length, which only constructed elements have.
  let length: Int

  init?(readingFrom rest: inout ArraySlice<UInt8>) {
    guard let identifier = rest.popFirst() else { return nil }
    isConstructed = identifier & 0x20 != 0
    isOctetString = identifier & ~0x20 == 0x04
    if identifier & 0x1F == 0x1F {
      // A tag number of several bytes: only the last one has its highest bit clear.
      while let byte = rest.popFirst(), byte & 0x80 != 0 {}
    }
    guard let first = rest.popFirst() else { return nil }
    guard first & 0x80 != 0 else {
      length = Int(first)
      return
    }
    var value = 0
    for _ in 0..<(first & 0x7F) {
      guard let byte = rest.popFirst(), value < 1 << 40 else { return nil }
      value = value << 8 | Int(byte)
    }
    length = value
  }
}
