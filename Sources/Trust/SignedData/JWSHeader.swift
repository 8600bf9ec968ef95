internal import Bytes
internal import JSON

/// The header that Apple's signed data has: ES256, and three certificates.
struct JWSHeader {
  let leaf: Certificate
  let intermediate: Certificate

  /// Reads a header. The third certificate, the root as the message has it, must be one but is not
  /// kept: a message does not get to say whom to trust.
  init(_ bytes: [UInt8]) throws(VerificationError) {
    let json = try Self.object(bytes)
    guard json["crit"] == nil else { throw .notAJWS("its header demands an extension") }
    guard case .string(let algorithm)? = json["alg"] else { throw .unsupportedAlgorithm("not named") }
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

  /// The header as JSON, whatever is in it.
  static func object(_ bytes: [UInt8]) throws(VerificationError) -> JSONObject {
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes, duplicates: .refused) } catch {
      throw .notAJWS("its header is not JSON: \(error)")
    }
    guard case .object(let object) = value else { throw .notAJWS("its header is not a JSON object") }
    return object
  }

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
