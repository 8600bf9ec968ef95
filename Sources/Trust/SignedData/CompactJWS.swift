internal import Bytes
internal import Glibc

/// A JWS in compact serialization (RFC 7515, section 7.1), cut at its dots. Nothing in it is decoded.
struct CompactJWS {
  private let bytes: [UInt8]
  private let firstDot: Int
  private let secondDot: Int

  /// Largest document that is looked at. Apple's are below 10 KiB; this leaves room and no more.
  static let maximumBytes = 1 << 20

  init(_ text: String) throws(VerificationError) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw .documentTooLarge(bytes: text.utf8.count, limit: Self.maximumBytes)
    }
    bytes = Array(text.utf8)
    let dot = UInt8(ascii: ".")
    guard let firstDot = bytes[...].firstPosition(of: dot),
      let secondDot = bytes[(firstDot + 1)...].firstPosition(of: dot),
      bytes[(secondDot + 1)...].firstPosition(of: dot) == nil
    else { throw .notAJWS("it has not three segments") }
    self.firstDot = firstDot
    self.secondDot = secondDot
  }

  /// The header segment as it came.
  var header: ArraySlice<UInt8> { bytes[..<firstDot] }

  /// What the signature is over: header and payload segments with the dot between.
  var signingInput: ArraySlice<UInt8> { bytes[..<secondDot] }

  func decodedHeader() throws(VerificationError) -> [UInt8] { try decoded(header, "header") }

  func decodedPayload() throws(VerificationError) -> [UInt8] {
    try decoded(bytes[(firstDot + 1)..<secondDot], "payload")
  }

  func decodedSignature() throws(VerificationError) -> [UInt8] {
    try decoded(bytes[(secondDot + 1)...], "signature")
  }

  private func decoded(_ segment: ArraySlice<UInt8>, _ name: String) throws(VerificationError) -> [UInt8] {
    guard let bytes = Base64.url.decode(segment) else { throw .notAJWS("its \(name) is not base64url") }
    return bytes
  }
}

extension ArraySlice<UInt8> {
  /// Returns the index of the first `byte`. The C library searches 32 bytes at a time; byte by byte, verifying a
  /// document would take 4 % longer.
  fileprivate func firstPosition(of byte: UInt8) -> Int? {
    withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress, let found = memchr(start, CInt(byte), bytes.count) else {
        return nil
      }
      return startIndex + (UnsafeRawPointer(found) - start)
    }
  }
}
