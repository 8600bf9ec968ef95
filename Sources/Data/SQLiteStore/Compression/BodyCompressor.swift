internal import Platform
internal import SQLite
internal import Store

/// Packs and unpacks the bodies of evidence (`evidence.body`, `evidence.packing`).
final class BodyCompressor {
  /// How a body is kept.
  enum Form: Int64 {
    /// As it arrived.
    case verbatim = 0
    /// As ``CompressedBody``, with the first dictionary.
    case packed = 1
  }

  private let parts: SharedSegments
  /// Made when it is needed: readers need none.
  private var deflater: Deflater?

  init(_ connection: Connection) throws(StoreError) { parts = try SharedSegments(connection) }

  /// A body in the shorter of its forms. What is not believed brings no common parts, or anybody could fill
  /// the store with them.
  func pack(_ body: [UInt8], isBelieved: Bool) throws(StoreError) -> (form: Form, bytes: [UInt8]) {
    let packed = try CompressedBody.pack(body, with: try packer()) { part throws(StoreError) in
      try parts.number(of: part, mayBeNew: isBelieved)
    }
    return packed.count < body.count ? (.packed, packed) : (.verbatim, body)
  }

  /// The body as it arrived, from its form and bytes.
  func unpack(_ form: Int64, _ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
    switch Form(rawValue: form) {
    case .verbatim: bytes
    case .packed:
      try CompressedBody.unpack(bytes, dictionary: CompressionDictionary.first) { number throws(StoreError) in
        try parts.part(number)
      }
    case nil: throw .corrupt("a body is packed in a way that is not known")
    }
  }

  /// Some of what was written was taken back.
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
