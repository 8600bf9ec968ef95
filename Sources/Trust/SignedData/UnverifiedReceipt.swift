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
