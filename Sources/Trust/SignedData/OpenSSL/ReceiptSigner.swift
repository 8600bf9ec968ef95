internal import COpenSSL

/// Signs receipts as Apple does: PKCS#7 with the chain and without signed attributes.
package struct ReceiptSigner: Sendable {
  /// The digest algorithm: SHA-256 today, SHA-1 in old receipts.
  package enum Digest: Hashable, Sendable, CaseIterable {
    case sha1
    case sha256
  }

  private let key: SigningKey
  private let chain: [Certificate]

  /// - Parameters:
  ///   - key: RSA or elliptic, the key that `chain`'s first certificate certifies.
  ///   - chain: leaf, intermediate, root; only the leaf is required.
  package init(key: SigningKey, chain: [Certificate]) {
    self.key = key
    self.chain = chain
  }

  /// Returns a PKCS#7 message with `content`, in DER.
  ///
  /// - Throws: ``CryptographyError/failed(operation:detail:)``, also if the chain is empty.
  package func sign(content: [UInt8], digest: Digest = .sha256) throws(CryptographyError) -> [UInt8] {
    let operation = "sign a receipt"
    guard let leaf = chain.first else {
      throw .failed(operation: operation, detail: "the chain is empty")
    }
    let input = try made(BIO_new_mem_buf(content, CInt(clamping: content.count)), operation)
    defer { BIO_free(input) }
    let flags = UInt32(CMS_BINARY | CMS_PARTIAL)
    let message = try made(CMS_sign(nil, nil, nil, nil, flags), operation)
    defer { CMS_ContentInfo_free(message) }
    try addSigner(leaf, digest, to: message)
    for certificate in chain.dropFirst() {
      try check(CMS_add1_cert(message, certificate.pointer), operation)
    }
    try check(CMS_final(message, input, nil, flags), operation)
    return try encoded(operation) { i2d_CMS_ContentInfo(message, $0) }
  }

  private func addSigner(_ leaf: Certificate, _ digest: Digest, to message: OpaquePointer)
    throws(CryptographyError)
  {
    let flags = UInt32(CMS_BINARY | CMS_PARTIAL | CMS_NOATTR)
    let algorithm = digest == .sha1 ? EVP_sha1() : EVP_sha256()
    _ = try made(
      CMS_add1_signer(message, leaf.pointer, key.reference.pointer, algorithm, flags), "sign a receipt")
  }
}
