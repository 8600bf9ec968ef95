package import JSON

/// What a JWS says, for diagnosis only: nothing of it was checked.
package struct UnverifiedJWS: Hashable, Sendable {
  package let header: JSONObject
  package let payload: JSONObject

  /// Decodes a document, whoever signed it. Throws if it is not a JWS, or if its payload is not JSON.
  package init(_ text: String) throws(VerificationError) {
    let jws = try CompactJWS(text)
    header = try JWSHeader.object(jws.decodedHeader())
    guard let payload = try? JSONValue(parsing: jws.decodedPayload()).objectValue else {
      throw .malformedJSON("it is not an object")
    }
    self.payload = payload
  }
}
