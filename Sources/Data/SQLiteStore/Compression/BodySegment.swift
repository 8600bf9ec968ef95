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
    guard let alphabet = run.alphabet else { return nil }
    let text = bytes[run.range]
    if text.count >= minSharedLength, isHeader(text) { return .shared(text) }
    return alphabet.decode(text).map { .encoded(alphabet, decodedSegments($0[...], depth: depth + 1)) }
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

/// A run of Base64 characters.
private struct Base64Run {
  let range: Range<Int>
  /// The alphabet of the run; `nil` if it mixes both.
  let alphabet: Base64?

  /// Finds the first run of at least `shortest` characters at or after `start`; `nil` if there is none.
  init?(in bytes: ArraySlice<UInt8>, from start: Int, atLeast shortest: Int) {
    let offset = bytes.startIndex
    let found = bytes.withUnsafeBufferPointer { text in
      alphabetsOfBytes.withUnsafeBufferPointer { kinds in
        Self.find(in: text, kinds, from: start - offset, atLeast: shortest)
      }
    }
    guard let (run, seen) = found else { return nil }
    range = offset + run.lowerBound..<offset + run.upperBound
    alphabet = seen & inStandard == 0 ? .url : seen & inURL == 0 ? .standard : nil
  }

  /// Returns the run and the union of the kinds of its bytes.
  private static func find(
    in text: UnsafeBufferPointer<UInt8>, _ kinds: UnsafeBufferPointer<UInt8>, from start: Int,
    atLeast shortest: Int
  ) -> (Range<Int>, UInt8)? {
    var position = start
    while position < text.count {
      let first = position
      var seen: UInt8 = 0
      // Testing many bytes at a time avoids a branch for each byte, which dominated the cost.
      while let kind = kindOfBlock(in: text, at: position) {
        seen |= kind
        position += blockSize
      }
      while position < text.count {
        let kind = kinds[Int(text[position])]
        guard kind < inNeither else { break }
        seen |= kind
        position += 1
      }
      if position - first >= shortest { return (first..<position, seen) }
      position += 1
    }
    return nil
  }
}

// 16 bytes: the operations on larger vectors are not inlined.
private typealias Block = SIMD16<Int8>
private let blockSize = Block.scalarCount

/// Returns the union of the kinds of the bytes of a block; `nil` if one of them is in neither alphabet, or if fewer bytes
/// are left. As signed numbers, non-ASCII bytes are less than all ASCII.
@inline(__always)
private func kindOfBlock(in text: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt8? {
  guard position + blockSize <= text.count else { return nil }
  let block = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: position, as: Block.self)
  let isUpper = (block .> Block(repeating: 0x40)) .& (block .< Block(repeating: 0x5B))
  let isLower = (block .> Block(repeating: 0x60)) .& (block .< Block(repeating: 0x7B))
  let isDigit = (block .> Block(repeating: 0x2F)) .& (block .< Block(repeating: 0x3A))
  let isStandard =
    (block .== Block(repeating: 0x2B)) .| (block .== Block(repeating: 0x2F))
    .| (block .== Block(repeating: 0x3D))
  let isURL = (block .== Block(repeating: 0x2D)) .| (block .== Block(repeating: 0x5F))
  let isEither = isUpper .| isLower .| isDigit .| isStandard .| isURL
  let words = unsafeBitCast(isEither, to: SIMD2<UInt64>.self)
  guard words[0] & words[1] == .max else { return nil }
  return inBoth | (isAnySet(isStandard) ? inStandard : 0) | (isAnySet(isURL) ? inURL : 0)
}

@inline(__always)
private func isAnySet(_ mask: SIMDMask<SIMD16<Int8>>) -> Bool {
  let words = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
  return words[0] | words[1] != 0
}

private let inBoth: UInt8 = 1
private let inStandard: UInt8 = 2
private let inURL: UInt8 = 4
/// Greater than the union of all other kinds.
private let inNeither: UInt8 = 8

/// The alphabets that contain each byte.
private let alphabetsOfBytes: [UInt8] = {
  var kinds = [UInt8](repeating: inNeither, count: 256)
  for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8 {
    kinds[Int(letter)] = inBoth
  }
  for letter in "+/=".utf8 { kinds[Int(letter)] = inStandard }
  for letter in "-_".utf8 { kinds[Int(letter)] = inURL }
  return kinds
}()
