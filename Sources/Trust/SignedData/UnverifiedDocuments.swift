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

/// What an app receipt says, for diagnosis only: nothing of it was checked.
package struct UnverifiedReceipt: Sendable {
  /// What was signed: the receipt's attributes.
  package let content: [UInt8]
  /// The signer's certificate, its issuer's and so on, then those that belong to neither.
  package let certificates: [Certificate]

  /// Takes a document apart, whoever signed it. Throws if it is not PKCS#7 signed data.
  package init(_ document: [UInt8]) throws(VerificationError) {
    let limit = SignedDataVerifier.maximumReceiptBytes
    guard document.count <= limit else { throw .documentTooLarge(bytes: document.count, limit: limit) }
    let message = try PKCS7Message(document)
    content = message.content
    certificates = Self.chain(from: message.signer, among: message.certificates)
  }

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
