internal import Compression
internal import Store

/// Packs and unpacks the bodies of evidence (`evidence.body`, `evidence.packing`).
final class BodyPacking {
  /// How a body is kept.
  enum Form: Int64 {
    /// As it arrived.
    case verbatim = 0
    /// As ``PackedBody``, with the first dictionary.
    case packed = 1
  }

  private let parts: CommonParts
  /// Made when it is needed: readers need none.
  private var deflater: Deflater?

  init(_ connection: Connection) throws(StoreError) { parts = try CommonParts(connection) }

  /// A body in the shorter of its forms. What is not believed brings no common parts, or anybody could fill
  /// the store with them.
  func pack(_ body: [UInt8], isBelieved: Bool) throws(StoreError) -> (form: Form, bytes: [UInt8]) {
    let packed = try PackedBody.pack(body, with: try packer()) { part throws(StoreError) in
      try parts.number(of: part, mayBeNew: isBelieved)
    }
    return packed.count < body.count ? (.packed, packed) : (.verbatim, body)
  }

  /// The body as it arrived, from its form and bytes.
  func unpack(_ form: Int64, _ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
    switch Form(rawValue: form) {
    case .verbatim: bytes
    case .packed:
      try PackedBody.unpack(bytes, dictionary: PackingDictionary.first) { number throws(StoreError) in
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
      let new = try Deflater(dictionary: PackingDictionary.first)
      deflater = new
      return new
    } catch {
      throw .failed(error.description)
    }
  }
}
