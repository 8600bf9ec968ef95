internal import Bytes
internal import Glibc
internal import JSON

/// A JWS in compact serialization (RFC 7515, section 7.1), split at its dots but not decoded.
struct CompactJWS {
  private let bytes: [UInt8]
  private let firstDot: Int
  private let secondDot: Int

  /// The maximum size of a document in bytes; Apple's are below 10 KiB.
  static let maximumBytes = 1 << 20

  init(_ text: String) throws(VerificationError) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw .documentTooLarge(bytes: text.utf8.count, limit: Self.maximumBytes)
    }
    bytes = Array(text.utf8)
    let dot = UInt8(ascii: ".")
    guard let firstDot = bytes[...].firstPosition(of: dot),
      let secondDot = bytes[(firstDot + 1)...].firstPosition(of: dot),
      bytes[(secondDot + 1)...].firstPosition(of: dot) == nil
    else { throw .notAJWS("expected three segments") }
    self.firstDot = firstDot
    self.secondDot = secondDot
  }

  /// The encoded header segment.
  var header: ArraySlice<UInt8> { bytes[..<firstDot] }

  /// The signed bytes: header and payload segments with the dot between.
  var signingInput: ArraySlice<UInt8> { bytes[..<secondDot] }

  func decodedHeader() throws(VerificationError) -> [UInt8] { try decoded(header, "header") }

  func decodedPayload() throws(VerificationError) -> [UInt8] {
    try decoded(bytes[(firstDot + 1)..<secondDot], "payload")
  }

  func decodedSignature() throws(VerificationError) -> [UInt8] {
    try decoded(bytes[(secondDot + 1)...], "signature")
  }

  private func decoded(_ segment: ArraySlice<UInt8>, _ name: String) throws(VerificationError) -> [UInt8] {
    guard let bytes = Base64.url.decode(segment) else {
      let fault = Base64.url.fault(in: segment).explanation(for: .url)
      throw .notAJWS("the \(name) is not base64url: \(fault)")
    }
    return bytes
  }
}

extension ArraySlice<UInt8> {
  /// Returns the index of the first `byte`. The C library searches 32 bytes at a time; byte by byte,
  /// verifying a document would take 4 % longer.
  fileprivate func firstPosition(of byte: UInt8) -> Int? {
    withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress, let found = memchr(start, CInt(byte), bytes.count) else {
        return nil
      }
      return startIndex + (UnsafeRawPointer(found) - start)
    }
  }
}

/// The header of Apple's signed data: ES256 and three certificates.
struct JWSHeader {
  let leaf: Certificate
  let intermediate: Certificate

  /// Decodes a header. The third certificate, the message's root, must be well formed but is not used: a
  /// message must not choose its trust anchor.
  init(_ bytes: [UInt8]) throws(VerificationError) {
    let json = try Self.object(bytes)
    guard json["crit"] == nil else { throw .notAJWS("the header requires an unsupported extension") }
    guard case .string(let algorithm)? = json["alg"] else { throw .unsupportedAlgorithm("missing") }
    guard algorithm == "ES256" else { throw .unsupportedAlgorithm(excerpt(algorithm)) }
    let texts = json["x5c"]?.arrayValue ?? []
    guard texts.count == 3 else { throw .wrongCertificateCount(texts.count) }
    leaf = try Self.certificate(texts[0], position: 0)
    intermediate = try Self.certificate(texts[1], position: 1)
    _ = try Self.certificate(texts[2], position: 2)
    guard leaf.hasExtension(MarkerOID.leaf) else { throw .missingMarkerOID(MarkerOID.leaf) }
    guard intermediate.hasExtension(MarkerOID.intermediate) else {
      throw .missingMarkerOID(MarkerOID.intermediate)
    }
  }

  /// Decodes the header's JSON object.
  static func object(_ bytes: [UInt8]) throws(VerificationError) -> JSONObject {
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes, limits: .ofRequests, duplicates: .rejected) } catch {
      throw .notAJWS("the header is not JSON: \(error)")
    }
    guard case .object(let object) = value else { throw .notAJWS("the header is not a JSON object") }
    return object
  }

  /// A certificate of `x5c`. `position` is for the error.
  private static func certificate(_ value: JSONValue, position: Int) throws(VerificationError) -> Certificate
  {
    guard let text = value.stringValue, let der = Base64.standard.decode(text) else {
      throw .malformedCertificate(position: position, detail: "not base64")
    }
    do {
      return try Certificate(der: der)
    } catch {
      throw .malformedCertificate(position: position, detail: error.description)
    }
  }
}
