internal import Bytes
package import JSON

/// The decoded content of a JWS without verification, for diagnosis only.
package struct UnverifiedJWS: Hashable, Sendable {
  /// The decoded header of the JWS.
  package let header: JSONObject
  /// The decoded payload, which is not verified.
  package let payload: JSONObject

  /// Decodes a document. Throws if it is not a JWS or its payload is not JSON.
  package init(_ text: String) throws(VerificationError) {
    let jws = try CompactJWS(text)
    header = try JWSHeader.object(jws.decodedHeader())
    let bytes = try jws.decodedPayload()
    let json: JSONValue
    do { json = try JSONValue(parsing: bytes, limits: .ofDocuments, duplicates: .rejected) } catch {
      throw .malformedJSON(error.description)
    }
    guard case .object(let payload) = json else { throw .malformedJSON("not an object") }
    self.payload = payload
  }

  /// The readable certificates of the header, leaf first.
  package var certificates: [Certificate] {
    let texts = header["x5c"]?.arrayValue ?? []
    // Apple's headers have three; decoding is bounded against denial of service.
    return texts.prefix(8).compactMap { text in
      let der = text.stringValue.flatMap { Base64.standard.decode($0) }
      return der.flatMap { try? Certificate(der: $0) }
    }
  }
}

/// The content of an app receipt without verification, for diagnosis only.
package struct UnverifiedReceipt: Sendable {
  /// The signed content: the receipt's attributes.
  package let content: [UInt8]
  /// The signer's chain, leaf first, then the unrelated certificates.
  package let certificates: [Certificate]

  /// Decodes a document. Throws if it is not PKCS#7 signed data.
  package init(_ document: [UInt8]) throws(VerificationError) {
    let limit = SignedDataVerifier.maximumReceiptBytes
    guard document.count <= limit else { throw .documentTooLarge(bytes: document.count, limit: limit) }
    let message = try PKCS7Message(document)
    content = message.content
    certificates = Self.chain(from: message.signer, among: message.certificates)
  }

  /// The certificates from that of the signer upwards, then those that belong to no chain.
  private static func chain(from signer: Certificate?, among certificates: [Certificate]) -> [Certificate] {
    var rest = certificates
    var chain: [Certificate] = []
    var next = signer
    while let certificate = next, let position = rest.firstIndex(where: { $0.der == certificate.der }) {
      chain.append(rest.remove(at: position))
      next = rest.first { certificate.names(issuer: $0) }
    }
    return chain + rest
  }
}
