package import AppStore
internal import COpenSSL

/// An OCSP responder for test certificate authorities (RFC 6960).
///
/// Keeps no list of certificates: any identifier with the name and key of one of its issuers counts as
/// issued.
package struct OCSPResponder: Sendable {
  private let issuers: [CertificateIssuer]

  /// A responder for `issuers`, each of which signs the responses about its certificates.
  package init(issuers: [CertificateIssuer]) { self.issuers = issuers }

  /// Returns the response to a request, both in DER.
  ///
  /// Certificates of the same issuer as the request's first one have `status`, unless `revoked` has the time at which
  /// they were revoked, by ``Certificate/serialNumber``; others are unknown. The response to a malformed request is `malformedRequest`, to one for another issuer `unauthorized`.
  /// `thisUpdate` and `nextUpdate` bound the response's validity.
  package func response(
    to request: [UInt8], saying status: OCSPResponse.Status, revoked: [String: Instant] = [:],
    from thisUpdate: Instant, until nextUpdate: Instant
  ) throws(CryptographyError) -> [UInt8] {
    let read = request.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_OCSP_REQUEST(nil, &start, bytes.count)
    }
    defer { OCSP_REQUEST_free(read) }
    guard let question = read, let first = Self.identifiers(in: question).first else {
      ERR_clear_error()
      return try Self.encodedResponse(OCSP_RESPONSE_STATUS_MALFORMEDREQUEST, nil)
    }
    guard let issuer = issuers.first(where: { $0.issued(first) }) else {
      return try Self.encodedResponse(OCSP_RESPONSE_STATUS_UNAUTHORIZED, nil)
    }
    let answer = try made(OCSP_BASICRESP_new(), Self.operation)
    defer { OCSP_BASICRESP_free(answer) }
    for identifier in Self.identifiers(in: question) {
      let revocation = Self.serialNumber(of: identifier).flatMap { revoked[$0] }
      let found = issuer.issued(identifier) ? revocation.map { .revoked($0) } ?? status : .unknown
      try Self.add(found, about: identifier, from: thisUpdate, until: nextUpdate, to: answer)
    }
    // RFC 6960, section 4.4.1: the response repeats the request's nonce.
    OCSP_copy_nonce(answer, question)
    try check(
      OCSP_basic_sign(
        answer, issuer.certificate.pointer, issuer.key.reference.pointer, EVP_sha384(), nil,
        UInt(OCSP_RESPID_KEY)), Self.operation)
    return try Self.encodedResponse(OCSP_RESPONSE_STATUS_SUCCESSFUL, answer)
  }

  private static let operation = "make an OCSP response"

  /// Returns the identifiers in a request, which owns them.
  private static func identifiers(in request: OpaquePointer) -> [OpaquePointer] {
    (0..<max(0, OCSP_request_onereq_count(request))).compactMap { index in
      OCSP_request_onereq_get0(request, index).flatMap { OCSP_onereq_get0_id($0) }
    }
  }

  private static func serialNumber(of identifier: OpaquePointer) -> String? {
    var serial: UnsafeMutablePointer<ASN1_INTEGER>?
    guard OCSP_id_get0_info(nil, nil, nil, &serial, identifier) == 1 else { return nil }
    return serial.map { Certificate.digits(of: $0) }
  }

  /// Adds the status of one certificate to a response.
  private static func add(
    _ status: OCSPResponse.Status, about identifier: OpaquePointer, from thisUpdate: Instant,
    until nextUpdate: Instant, to answer: OpaquePointer
  ) throws(CryptographyError) {
    var code = V_OCSP_CERTSTATUS_GOOD
    var revokedAt: UnsafeMutablePointer<ASN1_TIME>?
    switch status {
    case .good: break
    case .unknown: code = V_OCSP_CERTSTATUS_UNKNOWN
    case .revoked(let instant):
      code = V_OCSP_CERTSTATUS_REVOKED
      revokedAt = ASN1_GENERALIZEDTIME_set(nil, Int(instant.secondsSince1970))
    }
    let from = ASN1_GENERALIZEDTIME_set(nil, Int(thisUpdate.secondsSince1970))
    let until = ASN1_GENERALIZEDTIME_set(nil, Int(nextUpdate.secondsSince1970))
    defer { for time in [revokedAt, from, until] { ASN1_STRING_free(time) } }
    _ = try made(
      OCSP_basic_add1_status(
        answer, identifier, code, OCSP_REVOKED_STATUS_UNSPECIFIED, revokedAt, from, until), operation)
  }

  private static func encodedResponse(
    _ status: CInt, _ answer: OpaquePointer?
  ) throws(CryptographyError) -> [UInt8] {
    let response = try made(OCSP_response_create(status, answer), operation)
    defer { OCSP_RESPONSE_free(response) }
    return try encoded(operation) { i2d_OCSP_RESPONSE(response, $0) }
  }
}

extension CertificateIssuer {
  /// Whether an OCSP identifier has the digests of this authority's name and key.
  fileprivate func issued(_ identifier: OpaquePointer) -> Bool {
    var algorithm: OpaquePointer?
    var serial: UnsafeMutablePointer<ASN1_INTEGER>?
    guard OCSP_id_get0_info(nil, &algorithm, nil, &serial, identifier) == 1, let serial,
      let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm)))
    else { return false }
    let own = OCSP_cert_id_new(
      digest, X509_get_subject_name(certificate.pointer), X509_get0_pubkey_bitstr(certificate.pointer), serial
    )
    defer { OCSP_CERTID_free(own) }
    return own.map { OCSP_id_issuer_cmp($0, identifier) == 0 } ?? false
  }
}
