internal import Bytes
package import JSON

/// Signs payloads the way Apple does: ES256, with the certificate chain in the header.
package struct JWSSigner: Sendable {
  private let key: SigningKey
  /// The header segment with its dot; the same for every payload.
  private let header: [UInt8]

  /// - Parameters:
  ///   - key: on P-256, the key that `chain`'s first certificate certifies.
  ///   - chain: leaf, intermediate, root.
  package init(key: SigningKey, chain: [Certificate]) {
    self.key = key
    let certificates = chain.map { certificate in
      JSONValue.string(Base64.standard.encode(certificate.der))
    }
    let header: JSONObject = ["alg": "ES256", "x5c": .array(certificates)]
    self.header = Base64.url.encodeUTF8(header.serialized()) + [UInt8(ascii: ".")]
  }

  /// The payload as a JWS in compact serialization.
  package func sign(payload: JSONObject) throws(CryptographyError) -> String {
    let message = header + Base64.url.encodeUTF8(payload.serialized())
    let signature = try key.sign(message[...])
    return String(decoding: message + [UInt8(ascii: ".")] + Base64.url.encodeUTF8(signature), as: UTF8.self)
  }
}
