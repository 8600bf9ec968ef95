internal import Bytes

/// A segment of a document, classified by how well it compresses.
///
/// A notification is Base64 around documents that are Base64 themselves, and each repeats the same
/// certificates. After decoding these layers and replacing the certificates, a little JSON and three
/// signatures remain.
enum BodySegment: Equatable {
  /// Text, which is similar in all documents.
  case text(ArraySlice<UInt8>)
  /// A signature or other incompressible bytes.
  case incompressible(ArraySlice<UInt8>)
  /// Bytes that many documents share: an encoded JWS header with certificates, or the certificates of a
  /// receipt.
  case shared(ArraySlice<UInt8>)
  /// The Base64 encoding of the concatenated segments.
  case encoded(Base64, [BodySegment])

  /// Apple's documents nest at most three levels: notification, transaction, payload.
  private static let maxDepth = 3
  /// Decoding a shorter run saves no space. A signature has 86 characters.
  private static let minRunLength = 80
  /// In bytes; certificate chains are longer.
  private static let minSharedLength = 400

  /// Splits a document. The concatenated segments equal `bytes` for every input, including malformed ones.
  static func segments(of bytes: ArraySlice<UInt8>) -> [BodySegment] { segments(of: bytes, depth: 0) }

  /// Splits bytes at their runs of Base64 that decode to something shorter. Runs inside decoded bytes are found up to
  /// ``maxDepth``.
  private static func segments(of bytes: ArraySlice<UInt8>, depth: Int) -> [BodySegment] {
    guard depth < maxDepth else { return [.text(bytes)] }
    var segments: [BodySegment] = []
    var (rest, position) = (bytes.startIndex, bytes.startIndex)
    while let run = Base64Run(in: bytes, from: position, atLeast: minRunLength) {
      position = run.range.upperBound
      guard let segment = Self.segment(run, of: bytes, depth: depth) else { continue }
      if rest < run.range.lowerBound { segments.append(.text(bytes[rest..<run.range.lowerBound])) }
      segments.append(segment)
      rest = position
    }
    if rest < bytes.endIndex { segments.append(.text(bytes[rest...])) }
    return segments
  }

  /// Classifies a run; returns `nil` if it is not Base64.
  private static func segment(_ run: Base64Run, of bytes: ArraySlice<UInt8>, depth: Int) -> BodySegment? {
    let text = bytes[run.range]
    if text.count >= minSharedLength, isHeader(text) { return .shared(text) }
    for alphabet in text.last == UInt8(ascii: "=") ? [Base64.standard] : [.url, .standard] {
      if let decoded = alphabet.decode(text) {
        return .encoded(alphabet, decodedSegments(decoded[...], depth: depth + 1))
      }
    }
    return nil
  }

  /// Splits the content of a Base64 run: JSON is split again, a receipt at its certificates, other bytes are
  /// incompressible.
  private static func decodedSegments(_ bytes: ArraySlice<UInt8>, depth: Int) -> [BodySegment] {
    if bytes.first == UInt8(ascii: "{") { return segments(of: bytes, depth: depth) }
    guard bytes.count >= minSharedLength, let certificates = receiptCertificates(in: bytes) else {
      return [.incompressible(bytes)]
    }
    return [
      .text(bytes[..<certificates.lowerBound]), .shared(bytes[certificates]),
      .text(bytes[certificates.upperBound...]),
    ]
  }

  /// Whether `text` is a JWS header whose first or second member contains certificates.
  private static func isHeader(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.first == UInt8(ascii: "e"), let start = Base64.url.decode(text.prefix(40)) else {
      return false
    }
    return start.first == UInt8(ascii: "{")
      && start.indices.dropLast(certificatesMember.count - 1).contains { position in
        certificatesMember.indices.allSatisfy { start[position + $0] == certificatesMember[$0] }
      }
  }

  private static let certificatesMember = Array("\"x5c\"".utf8)
}

/// A run of characters that may be Base64: decoding decides. The bytes from `+` to `z`, without `,`, `.` and the backslash,
/// are tested faster than the characters of the alphabets.
private struct Base64Run {
  /// 16 bytes: the operations on larger vectors are not inlined.
  private typealias Block = SIMD16<Int8>

  let range: Range<Int>

  /// Finds the first run of at least `shortest` characters at or after `start`; `nil` if there is none.
  init?(in bytes: ArraySlice<UInt8>, from start: Int, atLeast shortest: Int) {
    let offset = bytes.startIndex
    let found = bytes.withUnsafeBufferPointer { text in
      Self.find(in: text, from: start - offset, atLeast: shortest)
    }
    guard let found else { return nil }
    range = offset + found.lowerBound..<offset + found.upperBound
  }

  /// Returns the first run of at least `shortest` characters of Base64 at or after `start`; `nil` if there is none.
  private static func find(
    in text: UnsafeBufferPointer<UInt8>, from start: Int, atLeast shortest: Int
  ) -> Range<Int>? {
    var position = start
    while position < text.count {
      let first = position
      // Testing many bytes at a time avoids a branch for each byte, which dominated the cost.
      while isPartOfRun(blockAt: position, of: text) { position += Block.scalarCount }
      while position < text.count, isPartOfRun(text[position]) { position += 1 }
      if position - first >= shortest { return first..<position }
      position += 1
    }
    return nil
  }

  private static func isPartOfRun(_ byte: UInt8) -> Bool {
    byte > 0x2A && byte < 0x7B && byte | 0x02 != 0x2E && byte != 0x5C
  }

  /// Whether all bytes of a block are; `false` if fewer bytes are left.
  @inline(__always)
  private static func isPartOfRun(blockAt position: Int, of text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard position + Block.scalarCount <= text.count else { return false }
    // As signed numbers, non-ASCII bytes are less than all ASCII.
    let block = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: position, as: Block.self)
    let isPart =
      (block .> Block(repeating: 0x2A)) .& (block .< Block(repeating: 0x7B))
      .& (((block | Block(repeating: 0x02)) ^ Block(repeating: 0x2E)) .> .zero)
      .& ((block ^ Block(repeating: 0x5C)) .> .zero)
    let words = unsafeBitCast(isPart, to: SIMD2<UInt64>.self)
    return words[0] & words[1] == .max
  }
}
