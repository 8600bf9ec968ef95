package import AppStore
internal import COpenSSL

/// The question whether one certificate still counts, as its authority wants to be asked (RFC 6960).
///
/// It has no nonce: authorities sign their answers in advance, and their dates say how old they are.
package struct OCSPRequest: Hashable, Sendable {
  /// The question in DER: the body of a POST with `application/ocsp-request`.
  package let der: [UInt8]

  /// Asks about `certificate`, which `issuer` issued.
  package init(for certificate: Certificate, issuer: Certificate) throws(CryptographyError) {
    let request = try made(OCSP_REQUEST_new(), "make an OCSP request")
    defer { OCSP_REQUEST_free(request) }
    let identifier = try certificate.ocspIdentifier(issuer: issuer)
    guard OCSP_request_add0_id(request, identifier) != nil else {
      OCSP_CERTID_free(identifier)
      throw .failed(operation: "make an OCSP request", detail: ErrorQueue.take())
    }
    der = try encoded("write an OCSP request") { i2d_OCSP_REQUEST(request, $0) }
  }
}

/// What a certificate's authority says about it, under a signature that was checked.
package struct OCSPResponse: Hashable, Sendable {
  /// Whether the certificate counts.
  package enum Status: Hashable, Sendable {
    case good
    /// Taken back, at that moment.
    case revoked(Instant)
    /// The authority does not know the certificate.
    case unknown
  }

  package let status: Status
  /// When the authority knew this.
  package let thisUpdate: Instant
  /// When it will know more; `nil` if it does not say.
  package let nextUpdate: Instant?

  /// Reads and checks an authority's response (DER) about `certificate`, which `issuer` issued.
  ///
  /// The response must be signed by the issuer itself, or by one to whom it gave the right to answer, with a
  /// certificate that is valid at `now`. Whether it is fresh is for the caller to ask.
  package init(
    response: [UInt8], for certificate: Certificate, issuer: Certificate, at now: Instant
  ) throws(OCSPError) {
    let basic = try Self.basicResponse(response)
    defer { OCSP_BASICRESP_free(basic) }
    do throws(CryptographyError) {
      try Self.checkSignature(of: basic, issuer: issuer, at: now)
    } catch { throw .notSignedByAuthority(error.description) }
    let identifier: OpaquePointer
    do { identifier = try certificate.ocspIdentifier(issuer: issuer) } catch {
      throw .malformed(error.description)
    }
    defer { OCSP_CERTID_free(identifier) }
    guard let answer = OCSPResponse(basic, about: identifier) else { throw .aboutOthers }
    self = answer
  }

  /// Whether the answer may be used at `now`. Clocks may differ by a minute; an answer that does not say
  /// when there will be a next one is good for an hour.
  package func isFresh(at now: Instant) -> Bool {
    let end = nextUpdate ?? thisUpdate.advanced(byMilliseconds: Self.usualLife)
    return thisUpdate.advanced(byMilliseconds: -Self.skew) <= now
      && now <= end.advanced(byMilliseconds: Self.skew)
  }

  private static let skew: Int64 = 60_000
  private static let usualLife: Int64 = 3_600_000

  private static func basicResponse(_ der: [UInt8]) throws(OCSPError) -> OpaquePointer {
    let response = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_OCSP_RESPONSE(nil, &start, bytes.count)
    }
    guard let response else { throw .malformed(ErrorQueue.take()) }
    defer { OCSP_RESPONSE_free(response) }
    let status = OCSP_response_status(response)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      throw .refused(String(cString: OCSP_response_status_str(Int(status))))
    }
    guard let basic = OCSP_response_get1_basic(response) else { throw .malformed(ErrorQueue.take()) }
    return basic
  }

  private static func checkSignature(
    of basic: OpaquePointer, issuer: Certificate, at now: Instant
  ) throws(CryptographyError) {
    let store = try made(X509_STORE_new(), "make a certificate store")
    defer { X509_STORE_free(store) }
    try check(X509_STORE_add_cert(store, issuer.pointer), "add an issuer to a certificate store")
    X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), Int(now.secondsSince1970))
    let known = try made(entitled_certificates_new(), "make a list of certificates")
    defer { entitled_certificates_free(known) }
    guard entitled_certificates_push(known, issuer.pointer) > 0 else {
      throw .failed(operation: "make a list of certificates", detail: ErrorQueue.take())
    }
    try check(
      OCSP_basic_verify(basic, known, store, UInt(OCSP_PARTIAL_CHAIN | OCSP_NOEXPLICIT)),
      "check the signature of an OCSP response")
  }

  /// What a response says about one certificate; `nil` if it says nothing or its dates cannot be read.
  private init?(_ basic: OpaquePointer, about identifier: OpaquePointer) {
    var code: CInt = -1
    var reason: CInt = -1
    var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    guard OCSP_resp_find_status(basic, identifier, &code, &reason, &revoked, &this, &next) == 1,
      let thisUpdate = Instant(this)
    else { return nil }
    switch code {
    case V_OCSP_CERTSTATUS_GOOD: status = .good
    case V_OCSP_CERTSTATUS_REVOKED: status = .revoked(Instant(revoked) ?? thisUpdate)
    default: status = .unknown
    }
    self.thisUpdate = thisUpdate
    nextUpdate = Instant(next)
  }
}

/// Why an authority's response cannot be used.
package enum OCSPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not an OCSP response.
  case malformed(String)
  /// The authority gave no answer, such as `trylater`.
  case refused(String)
  /// Signed by someone whom the certificate's issuer did not give the right to answer.
  case notSignedByAuthority(String)
  /// Nothing in it is about the certificate.
  case aboutOthers

  package var description: String {
    switch self {
    case .malformed(let detail): "the OCSP response cannot be read: \(detail)"
    case .refused(let detail): "the OCSP responder gives no answer: \(detail)"
    case .notSignedByAuthority(let detail): "the OCSP response is not the authority's: \(detail)"
    case .aboutOthers: "the OCSP response is not about the certificate"
    }
  }
}
