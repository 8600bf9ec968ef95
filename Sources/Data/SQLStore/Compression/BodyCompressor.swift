internal import Platform
internal import Store

/// Compresses and decompresses the bodies of evidence (`evidence.body`, `evidence.compression`).
final class BodyCompressor {
  /// The storage format of a body. Persisted.
  enum Form: Int64 {
    /// The original bytes.
    case verbatim = 0
    /// A ``CompressedBody`` that uses the first dictionary.
    case compressed = 1
  }

  private let sharedSegments: SharedSegments
  /// Created on first use, because readers only decompress.
  private var deflater: Deflater?

  init(_ connection: any SQLConnection) throws(StoreError) { sharedSegments = try SharedSegments(connection) }

  /// Returns a body in the shorter of the two formats. Rejected evidence adds no shared segments, because
  /// otherwise any sender could fill that table.
  func compress(_ body: [UInt8], isAccepted: Bool) throws(StoreError) -> (form: Form, bytes: [UInt8]) {
    let compressed = try CompressedBody.compress(body, with: try sharedDeflater()) {
      segment throws(StoreError) in
      try sharedSegments.number(of: segment, mayBeNew: isAccepted)
    }
    return compressed.count < body.count ? (.compressed, compressed) : (.verbatim, body)
  }

  /// Returns the original bytes of a stored body.
  func decompress(_ form: Int64, _ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
    switch Form(rawValue: form) {
    case .verbatim: bytes
    case .compressed:
      try CompressedBody.decompress(bytes, dictionary: CompressionDictionary.first) {
        number throws(StoreError) in
        try sharedSegments.segment(number)
      }
    case nil: throw .corrupt("unknown compression of an evidence body")
    }
  }

  /// Discards cached state after a rollback, or after the database lost commits.
  func rolledBack() { sharedSegments.clearCache() }

  /// Returns the deflater, which the first call creates.
  private func sharedDeflater() throws(StoreError) -> Deflater {
    if let deflater { return deflater }
    do {
      let new = try Deflater(dictionary: CompressionDictionary.first)
      deflater = new
      return new
    } catch {
      throw .failed(error.description)
    }
  }
}
