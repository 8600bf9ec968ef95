internal import SignedData
internal import Store

extension EvidenceContent {
  /// What came from outside, which may be long: OpenSSL hashes it in a tenth of the time that the store's own
  /// hash takes.
  init(arrived bytes: [UInt8]) {
    guard let hash = try? SHA256.hash(bytes[...]) else {
      self.init(bytes)
      return
    }
    self.init(bytes, hash: hash)
  }
}
