internal import Bytes
package import JSON

/// What a JWS says, for diagnosis only: nothing of it was checked.
package struct UnverifiedJWS: Hashable, Sendable {
  package let header: JSONObject
  package let payload: JSONObject

  /// Decodes a document, whoever signed it. Throws if it is not a JWS, or if its payload is not JSON.
  package init(_ text: String) throws(VerificationError) {
    let jws = try CompactJWS(text)
    header = try JWSHeader.object(jws.decodedHeader())
    let bytes = try jws.decodedPayload()
    let json: JSONValue
    do { json = try JSONValue(parsing: bytes, duplicates: .refused) } catch {
      throw .malformedJSON(error.description)
    }
    guard case .object(let payload) = json else { throw .malformedJSON("it is not an object") }
    self.payload = payload
  }

  /// The certificates of the header, the signer's first, as far as there are any and they can be read.
  package var certificates: [Certificate] {
    let texts = header["x5c"]?.arrayValue ?? []
    // A genuine header has three; more than a few are somebody's attempt to keep us busy.
    return texts.prefix(8).compactMap { text in
      let der = text.stringValue.flatMap { Base64.standard.decode($0) }
      return der.flatMap { try? Certificate(der: $0) }
    }
  }
}
