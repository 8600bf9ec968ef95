internal import Platform
internal import SQLite
internal import Store

/// Compresses and decompresses the bodies of evidence (`evidence.body`, `evidence.compression`).
final class BodyCompressor {
  /// The storage format of a body. Persisted.
  enum Form: Int64 {
    /// The original bytes.
    case verbatim = 0
    /// A ``CompressedBody`` that uses the first dictionary.
    case packed = 1
  }

  private let parts: SharedSegments
  /// Created on first use, because readers only decompress.
  private var deflater: Deflater?

  init(_ connection: Connection) throws(StoreError) { parts = try SharedSegments(connection) }

  /// Returns a body in the shorter of the two formats. Rejected evidence adds no shared segments, because
  /// otherwise any sender could fill that table.
  func pack(_ body: [UInt8], isAccepted: Bool) throws(StoreError) -> (form: Form, bytes: [UInt8]) {
    let packed = try CompressedBody.pack(body, with: try packer()) { part throws(StoreError) in
      try parts.number(of: part, mayBeNew: isAccepted)
    }
    return packed.count < body.count ? (.packed, packed) : (.verbatim, body)
  }

  /// Returns the original bytes of a stored body.
  func unpack(_ form: Int64, _ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
    switch Form(rawValue: form) {
    case .verbatim: bytes
    case .packed:
      try CompressedBody.unpack(bytes, dictionary: CompressionDictionary.first) { number throws(StoreError) in
        try parts.part(number)
      }
    case nil: throw .corrupt("unknown compression of an evidence body")
    }
  }

  /// Discards cached state after a rollback.
  func rolledBack() { parts.forget() }

  private func packer() throws(StoreError) -> Deflater {
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
