package import AppStore
internal import COpenSSL

/// An OCSP request for one certificate (RFC 6960).
///
/// Has no nonce, because authorities sign responses in advance and date them.
package struct OCSPRequest: Hashable, Sendable {
  /// The DER encoding: the body of a POST with `application/ocsp-request`.
  package let der: [UInt8]

  /// A request for `certificate`, which `issuer` issued.
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

/// The verified OCSP response for one certificate.
package struct OCSPResponse: Hashable, Sendable {
  /// The revocation status.
  package enum Status: Hashable, Sendable {
    /// The responder states no revocation.
    case good
    /// Revoked at that time.
    case revoked(Instant)
    /// The authority does not know the certificate.
    case unknown
  }

  /// The revocation status, by the responder.
  package let status: Status
  /// The time at which the status was known to be correct.
  package let thisUpdate: Instant
  /// The time by which newer information is available; `nil` if the response does not state it.
  package let nextUpdate: Instant?

  /// Decodes and verifies a response (DER) for `certificate`, which `issuer` issued.
  ///
  /// The issuer, or a responder that it delegated, must have signed the response with a certificate that is
  /// valid at `now`. The caller checks freshness.
  ///
  /// - Throws: ``OCSPError/errorStatus(_:)`` for a response without a signed part,
  ///   ``OCSPError/notSignedByAuthority(_:)``, ``OCSPError/otherCertificate`` if it is about others only, and
  ///   ``OCSPError/malformed(_:)``.
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
    guard let response = OCSPResponse(basic, about: identifier) else { throw .otherCertificate }
    self = response
  }

  /// Whether the response may be used at `now`. Tolerates a clock skew of one minute; without `nextUpdate` a
  /// response is fresh for one hour.
  package func isFresh(at now: Instant) -> Bool {
    let end = nextUpdate ?? thisUpdate.advanced(byMilliseconds: Self.defaultLifetime)
    return thisUpdate.advanced(byMilliseconds: -Self.clockSkew) <= now
      && now <= end.advanced(byMilliseconds: Self.clockSkew)
  }

  /// The tolerated difference of clocks, in milliseconds.
  private static let clockSkew: Int64 = 60_000
  /// The time for which a response without `nextUpdate` is fresh, in milliseconds.
  private static let defaultLifetime: Int64 = 3_600_000

  /// The signed part of a response; an error of the responder has none. The caller frees it.
  private static func basicResponse(_ der: [UInt8]) throws(OCSPError) -> OpaquePointer {
    let response = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_OCSP_RESPONSE(nil, &start, bytes.count)
    }
    guard let response else { throw .malformed(ErrorQueue.take()) }
    defer { OCSP_RESPONSE_free(response) }
    let status = OCSP_response_status(response)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      throw .errorStatus(String(cString: OCSP_response_status_str(Int(status))))
    }
    guard let basic = OCSP_response_get1_basic(response) else { throw .malformed(ErrorQueue.take()) }
    return basic
  }

  /// Verifies the signature by the issuer of the certificate, or by a responder that the issuer certified
  /// (RFC 6960, 4.2.2.2).
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
      "verify an OCSP response")
  }

  /// The status of one certificate in a response; `nil` if it is missing or its dates are malformed.
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

/// The reason an OCSP response cannot be used.
package enum OCSPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not an OCSP response.
  case malformed(String)
  /// The responder returned an error status, such as `trylater`.
  case errorStatus(String)
  /// Neither the issuer nor a responder that it delegated signed the response.
  case notSignedByAuthority(String)
  /// The response does not cover the certificate.
  case otherCertificate

  package var description: String {
    switch self {
    case .malformed(let detail): "malformed OCSP response: \(detail)"
    case .errorStatus(let status): "the OCSP responder returned '\(status)'"
    case .notSignedByAuthority(let detail):
      "the OCSP response has no valid signature of the authority: \(detail)"
    case .otherCertificate: "the OCSP response does not cover the certificate"
    }
  }
}
