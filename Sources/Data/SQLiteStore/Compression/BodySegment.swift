internal import Bytes

/// A part of a document, by how it is best kept.
///
/// A notification is Base64 around documents that are Base64 themselves, each with the same certificates in
/// front. Taken apart, what is left is a little JSON and three signatures.
enum BodySegment: Equatable {
  /// Much alike in all documents.
  case text(ArraySlice<UInt8>)
  /// A signature, or what else nothing can shorten.
  case noise(ArraySlice<UInt8>)
  /// The same in many documents: the header of a JWS with its certificates, as it is encoded; or those of a
  /// receipt.
  case common(ArraySlice<UInt8>)
  /// The Base64 of what these pieces give together.
  case encoded(Base64, [BodySegment])

  /// Notification, transaction, payload: nothing of Apple's is deeper.
  private static let deepest = 3
  /// Shorter ones save nothing; a signature has 86 characters.
  private static let shortestRun = 80
  private static let shortestCommonPart = 400

  /// Takes a document apart. The pieces give exactly `bytes` again, whatever they are.
  static func pieces(of bytes: ArraySlice<UInt8>) -> [BodySegment] { pieces(of: bytes, depth: 0) }

  private static func pieces(of bytes: ArraySlice<UInt8>, depth: Int) -> [BodySegment] {
    guard depth < deepest else { return [.text(bytes)] }
    var pieces: [BodySegment] = []
    var (rest, position) = (bytes.startIndex, bytes.startIndex)
    while let run = Base64Run(in: bytes, from: position, atLeast: shortestRun) {
      position = run.range.upperBound
      guard let piece = piece(run, of: bytes, depth: depth) else { continue }
      if rest < run.range.lowerBound { pieces.append(.text(bytes[rest..<run.range.lowerBound])) }
      pieces.append(piece)
      rest = position
    }
    if rest < bytes.endIndex { pieces.append(.text(bytes[rest...])) }
    return pieces
  }

  /// What a run is; `nil` if it is no Base64.
  private static func piece(_ run: Base64Run, of bytes: ArraySlice<UInt8>, depth: Int) -> BodySegment? {
    guard let alphabet = run.alphabet else { return nil }
    let text = bytes[run.range]
    if text.count >= shortestCommonPart, isHeader(text) { return .common(text) }
    return alphabet.decode(text).map { .encoded(alphabet, decodedPieces($0[...], depth: depth + 1)) }
  }

  private static func decodedPieces(_ bytes: ArraySlice<UInt8>, depth: Int) -> [BodySegment] {
    if bytes.first == UInt8(ascii: "{") { return pieces(of: bytes, depth: depth) }
    guard bytes.count >= shortestCommonPart, let certificates = receiptCertificates(in: bytes) else {
      return [.noise(bytes)]
    }
    return [
      .text(bytes[..<certificates.lowerBound]), .common(bytes[certificates]),
      .text(bytes[certificates.upperBound...]),
    ]
  }

  /// Whether text is the header of a JWS with certificates, which are the first or second of its members.
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

/// A run of characters that Base64 uses.
private struct Base64Run {
  let range: Range<Int>
  /// The alphabet that it can be; `nil` if it is a mixture.
  let alphabet: Base64?

  /// The first run of that many characters or more from `start` on; `nil` if there is none.
  init?(in bytes: ArraySlice<UInt8>, from start: Int, atLeast shortest: Int) {
    let offset = bytes.startIndex
    let found = bytes.withUnsafeBufferPointer { text in
      alphabetsOfBytes.withUnsafeBufferPointer { kinds in
        Self.find(in: text, kinds, from: start - offset, atLeast: shortest)
      }
    }
    guard let (run, seen) = found else { return nil }
    range = offset + run.lowerBound..<offset + run.upperBound
    alphabet = seen & ofStandard == 0 ? .url : seen & ofURL == 0 ? .standard : nil
  }

  /// The run, and the kinds of all its bytes.
  private static func find(
    in text: UnsafeBufferPointer<UInt8>, _ kinds: UnsafeBufferPointer<UInt8>, from start: Int,
    atLeast shortest: Int
  ) -> (Range<Int>, UInt8)? {
    var position = start
    while position < text.count {
      let first = position
      var seen: UInt8 = 0
      // Eight at a time: a question for each byte would be most of the work.
      while position + 8 <= text.count {
        var kind: UInt8 = 0
        for offset in 0..<8 { kind |= kinds[Int(text[position + offset])] }
        guard kind < ofNone else { break }
        seen |= kind
        position += 8
      }
      while position < text.count {
        let kind = kinds[Int(text[position])]
        guard kind < ofNone else { break }
        seen |= kind
        position += 1
      }
      if position - first >= shortest { return (first..<position, seen) }
      position += 1
    }
    return nil
  }
}

private let ofBoth: UInt8 = 1
private let ofStandard: UInt8 = 2
private let ofURL: UInt8 = 4
/// Greater than all others together.
private let ofNone: UInt8 = 8

/// For each byte the alphabets that have it.
private let alphabetsOfBytes: [UInt8] = {
  var kinds = [UInt8](repeating: ofNone, count: 256)
  for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8 {
    kinds[Int(letter)] = ofBoth
  }
  for letter in "+/=".utf8 { kinds[Int(letter)] = ofStandard }
  for letter in "-_".utf8 { kinds[Int(letter)] = ofURL }
  return kinds
}()
