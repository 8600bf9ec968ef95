internal import SignedData
package import Store

extension EvidenceContent {
  /// The content of `bytes` with their SHA-256, as the ledger stores it.
  package init(_ bytes: [UInt8], keepingAtMost limit: Int = EvidenceContent.limit) {
    self.init(bytes, hash: SHA256.hash(bytes[...]), keepingAtMost: limit)
  }
}
