internal import COpenSSL

/// PKCS#7 signed data with one signer (RFC 5652), in DER or BER, as app receipts are.
///
/// Reading one says nothing about whether to believe it.
struct PKCS7Message {
  private let message: MessageReference
  private let signerInfo: OpaquePointer

  /// What was signed, as it is inside.
  let content: [UInt8]
  /// The certificates that came along, in the order in which they did.
  let certificates: [Certificate]

  /// More than any of Apple's messages bring; their three are signer, intermediate and root.
  private static let maximumCertificates = 8
  /// A message is made of some hundred elements, and of one for each piece if its content is in pieces.
  private static let maximumElements = 50_000

  init(_ document: [UInt8]) throws(VerificationError) {
    let bytes = Self.unwrapped(document)
    guard !ASN1ElementCounter.exceeds(Self.maximumElements, in: bytes) else {
      throw .tooMany("elements", limit: Self.maximumElements)
    }
    message = try MessageReference(reading: bytes)
    content = try Self.content(of: message.pointer)
    certificates = try Self.certificates(of: message.pointer)
    signerInfo = try Self.signer(of: message.pointer)
  }

  /// The certificate that the message names as its signer's; `nil` if it does not bring it along.
  var signer: Certificate? {
    certificates.first { CMS_SignerInfo_cert_cmp(signerInfo, $0.pointer) == 0 }
  }

  /// The algorithm by which the content was hashed, in OpenSSL's short name, such as `SHA256`.
  var digest: String {
    var algorithm: UnsafeMutablePointer<X509_ALGOR>?
    CMS_SignerInfo_get0_algs(signerInfo, nil, nil, &algorithm, nil)
    var identifier: OpaquePointer?
    X509_ALGOR_get0(&identifier, nil, nil, algorithm)
    return OBJ_nid2sn(OBJ_obj2nid(identifier)).map { String(cString: $0) } ?? ""
  }

  /// Whether the message carries the signature of the certificate's key over the content.
  ///
  /// Nothing else is looked at: not the certificate's issuer, purpose or dates.
  func isSigned(by certificate: Certificate) -> Bool {
    // Said outright, since two certificates in the message can go by the signer's name.
    CMS_SignerInfo_set1_signer_cert(signerInfo, certificate.pointer)
    let flags = CMS_NO_SIGNER_CERT_VERIFY | CMS_NOINTERN | CMS_BINARY
    let result = CMS_verify(message.pointer, nil, nil, nil, nil, UInt32(flags))
    // A wrong signature leaves its reason in the queue; it is the answer, not an error.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }

  /// What is in the OCTET STRING in which some receipts come; the document itself if it is not in one.
  private static func unwrapped(_ document: [UInt8]) -> [UInt8] {
    // The identifiers of an OCTET STRING, in one piece and in several.
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

  private static func content(of message: OpaquePointer) throws(VerificationError) -> [UInt8] {
    guard OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed else {
      throw .notAReceipt("it is PKCS#7, but not signed data")
    }
    guard OBJ_obj2nid(CMS_get0_eContentType(message)) == NID_pkcs7_data else {
      throw .notAReceipt("it is signed, but not as plain data")
    }
    guard let content = CMS_get0_content(message)?.pointee, let start = ASN1_STRING_get0_data(content) else {
      ERR_clear_error()
      throw .notAReceipt("the signed content is not inside")
    }
    return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(content))))
  }

  private static func certificates(of message: OpaquePointer) throws(VerificationError) -> [Certificate] {
    let list = CMS_get1_certs(message)
    defer { entitled_certificates_release(list) }
    let count = max(0, Int(entitled_certificates_count(list)))
    guard count <= maximumCertificates else { throw .wrongCertificateCount(count) }
    var certificates: [Certificate] = []
    for position in 0..<count {
      let pointer = entitled_certificates_at(list, CInt(position))
      do {
        certificates.append(try Certificate(sharing: pointer))
      } catch {
        throw .malformedCertificate(position: position, detail: error.description)
      }
    }
    return certificates
  }

  private static func signer(of message: OpaquePointer) throws(VerificationError) -> OpaquePointer {
    let count = entitled_signers_count(message)
    guard count == 1, let signer = entitled_signers_first(message) else {
      throw .notAReceipt("it has \(count) signers, not one")
    }
    return signer
  }
}

/// Owns one `CMS_ContentInfo`.
private final class MessageReference {
  let pointer: OpaquePointer

  /// Reads DER or BER that has nothing after it.
  init(reading bytes: [UInt8]) throws(VerificationError) {
    let (message, used) = bytes.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let message = d2i_CMS_ContentInfo(nil, &start, bytes.count)
      return (message, bytes.baseAddress.flatMap { begin in start.map { $0 - begin } } ?? 0)
    }
    guard let message else { throw .notAReceipt("it is not PKCS#7 (\(ErrorQueue.take()))") }
    guard used == bytes.count else {
      CMS_ContentInfo_free(message)
      throw .notAReceipt("bytes follow its end")
    }
    pointer = message
  }

  deinit { CMS_ContentInfo_free(pointer) }
}

/// Counts the elements of BER before a parser builds something for each of them.
///
/// An element can be two bytes long and costs a parser a hundred: without the count, a receipt of some
/// megabytes would take some hundreds.
package enum ASN1ElementCounter {
  /// Whether `bytes` hold more than `limit` elements, however deep. Whether they are well formed is for
  /// the parser to say: where they are not, the count just ends.
  package static func exceeds(_ limit: Int, in bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    var count = 0
    while let header = ElementHeader(readingFrom: &rest) {
      count += 1
      guard count <= limit else { return true }
      // What is in a constructed element comes next and is counted; other content is passed over.
      if !header.isConstructed { rest = rest.dropFirst(header.length) }
    }
    return false
  }
}

/// The first bytes of an element (X.690, section 8.1): what it is and how long.
private struct ElementHeader {
  let isConstructed: Bool
  /// 0 also for an indefinite length, which only constructed elements have.
  let length: Int

  init?(readingFrom rest: inout ArraySlice<UInt8>) {
    guard let identifier = rest.popFirst() else { return nil }
    isConstructed = identifier & 0x20 != 0
    if identifier & 0x1F == 0x1F {
      // A tag number of several bytes, of which the last has its highest bit clear.
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
