package import AppStore

/// The reason a signed document is rejected, in the order of the checks.
///
/// No case contains customer data. Its values help an operator to find out whether the document is forged or
/// for another app.
package enum VerificationError: Error, Hashable, Sendable {
  /// The document is larger than any of Apple's; it was not parsed.
  case documentTooLarge(bytes: Int, limit: Int)
  /// Not three base64url segments, or an invalid header.
  case notAJWS(String)
  /// A receipt given as text is not Base64, for the reason given.
  case notBase64(String)
  /// Not PKCS#7 signed data with one signer, or not an app receipt's attributes inside it.
  case notAReceipt(String)
  /// The document has more parts than any of Apple's; they were not processed.
  case tooMany(String, limit: Int)
  /// Xcode or local testing data, for an app that does not accept it.
  case xcodeNotAllowed(Environment)
  /// The header's `alg` is not ES256, the only one with which Apple signs.
  case unsupportedAlgorithm(String)
  /// The header's `x5c` has not the three certificates of Apple's chain.
  case wrongCertificateCount(Int)
  /// `position` counts from 0, the leaf.
  case malformedCertificate(position: Int, detail: String)
  /// A certificate lacks the extension that permits signing App Store data; see ``MarkerOID``.
  case missingMarkerOID(String)
  /// The chain does not end at a trust anchor of the environment.
  case untrustedRoot(String)
  /// The leaf's key is not on P-256, so it cannot have made an ES256 signature.
  case unsupportedKey
  /// The signature is not that of the leaf's key.
  case badSignature
  /// The payload is not JSON, for the reason given.
  case malformedJSON(String)
  /// A member has the wrong type, or is a date beyond the calendar.
  case malformedField(PayloadError)
  /// A member that Apple always sends is missing.
  case missingField(String)
  /// A certificate was not valid at the date of signing, which counts instead of the present date.
  case chainExpiredAtSigning(signed: Instant, validity: ClosedRange<Instant>)
  /// The bundle id is not that of the app.
  case wrongBundle(String)
  /// The App Store id is not that of the app.
  case wrongApp(Int64)
  /// An environment that the app does not accept or this version does not support.
  case wrongEnvironment(String)
  /// OpenSSL failed for a reason unrelated to the document; retry.
  case cryptographyFailed(CryptographyError)
}

extension VerificationError: CustomStringConvertible {
  /// The reason code, stored with rejected evidence and returned to callers.
  package var reason: String {
    switch self {
    case .documentTooLarge: "DOCUMENT_TOO_LARGE"
    case .notAJWS: "NOT_A_JWS"
    case .notBase64: "NOT_BASE64"
    case .notAReceipt: "NOT_A_RECEIPT"
    case .tooMany: "TOO_MANY"
    case .xcodeNotAllowed: "XCODE_NOT_ALLOWED"
    case .unsupportedAlgorithm: "UNSUPPORTED_ALGORITHM"
    case .wrongCertificateCount: "WRONG_CERTIFICATE_COUNT"
    case .malformedCertificate: "MALFORMED_CERTIFICATE"
    case .missingMarkerOID: "MISSING_MARKER_OID"
    case .untrustedRoot: "UNTRUSTED_ROOT"
    case .unsupportedKey: "UNSUPPORTED_KEY"
    case .badSignature: "BAD_SIGNATURE"
    case .malformedJSON: "MALFORMED_JSON"
    case .malformedField: "MALFORMED_FIELD"
    case .missingField: "MISSING_FIELD"
    case .chainExpiredAtSigning: "CHAIN_EXPIRED_AT_SIGNING"
    case .wrongBundle: "WRONG_BUNDLE"
    case .wrongApp: "WRONG_APP"
    case .wrongEnvironment: "WRONG_ENVIRONMENT"
    case .cryptographyFailed: "CRYPTOGRAPHY_FAILED"
    }
  }

  /// A message for people.
  package var description: String {
    switch self {
    case .documentTooLarge(let bytes, let limit):
      "the document has \(bytes) bytes, more than the limit of \(limit)"
    case .notAJWS(let detail): "not a JWS: \(detail)"
    case .notBase64(let detail): "the document is not base64: \(detail)"
    case .notAReceipt(let detail): "not a receipt: \(detail)"
    case .tooMany(let parts, let limit): "the document has more than \(limit) \(parts)"
    case .xcodeNotAllowed(let environment):
      "\(environment.rawValue) data is not signed by Apple, and this app does not accept it; for tests, list "
        + "\(environment.rawValue) in environments"
    case .unsupportedAlgorithm(let name):
      "unsupported algorithm: \(name)"
    case .wrongCertificateCount(let count): "expected three certificates, found \(count)"
    case .malformedCertificate(let position, let detail):
      "certificate \(position) (from 0) is malformed: \(detail)"
    case .missingMarkerOID(let identifier): "a certificate lacks Apple's marker OID \(identifier)"
    case .untrustedRoot(let detail):
      "untrusted root: \(detail); documents of another sandbox need its root in trusted_roots"
    case .unsupportedKey: "the signing certificate's key is not on P-256"
    case .badSignature: "the signature does not match the signing certificate"
    case .malformedJSON(let detail): "the payload is not JSON: \(detail)"
    case .malformedField(let error): "malformed payload: \(error)"
    case .missingField(let name): "the payload lacks \(name)"
    case .chainExpiredAtSigning(let signed, let validity):
      "signed at \(signed), but the certificates are valid from \(validity.lowerBound) to "
        + "\(validity.upperBound)"
    case .wrongBundle(let bundle):
      "the document is for the app \(bundle); compare it with bundle_id in the configuration"
    case .wrongApp(let number):
      "the document is for the App Store app \(number); compare it with apple_id in the configuration"
    case .wrongEnvironment(let environment):
      "the document is of the environment \(environment), which is not in environments of the configuration"
    case .cryptographyFailed(let error): "verification failed internally: \(error)"
    }
  }
}

/// Returns the part of a document's text that an error may show: quoted, at most 160 characters.
func excerpt(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.prefix(160))).debugDescription
}
