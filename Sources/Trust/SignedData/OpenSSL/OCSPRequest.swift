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
