/// An ECDSA signature on P-256 in its two encodings.
///
/// JWS concatenates r and s as 32 bytes each (RFC 7518, section 3.4); OpenSSL uses the DER of
/// `SEQUENCE { r INTEGER, s INTEGER }`.
struct ECDSASignature {
  /// r and s, 64 bytes.
  let raw: [UInt8]

  private static let scalarBytes = 32

  /// `nil` unless there are exactly 64 bytes.
  init?(raw: ArraySlice<UInt8>) {
    guard raw.count == 2 * Self.scalarBytes else { return nil }
    self.raw = Array(raw)
  }

  /// `nil` unless it is the DER of two integers of at most 32 bytes.
  init?(der: ArraySlice<UInt8>) {
    var rest = der
    guard rest.popFirst() == 0x30, let length = rest.popFirst(), Int(length) == rest.count,
      let r = Self.takeInteger(from: &rest), let s = Self.takeInteger(from: &rest), rest.isEmpty
    else { return nil }
    raw = r + s
  }

  /// The signature as DER; at most 72 bytes, so that every length fits one byte.
  var der: [UInt8] {
    var der: [UInt8] = [0x30, 0]
    der.reserveCapacity(72)
    Self.appendInteger(raw.prefix(Self.scalarBytes), to: &der)
    Self.appendInteger(raw.suffix(Self.scalarBytes), to: &der)
    der[1] = UInt8(der.count - 2)
    return der
  }

  /// DER integers are as short as possible, and a leading 1 bit would make them negative.
  private static func appendInteger(_ scalar: ArraySlice<UInt8>, to der: inout [UInt8]) {
    let digits = scalar.drop { $0 == 0 }
    let needsZero = digits.first.map { $0 >= 0x80 } ?? true
    der.append(0x02)
    der.append(UInt8(digits.count + (needsZero ? 1 : 0)))
    if needsZero { der.append(0) }
    der.append(contentsOf: digits)
  }

  private static func takeInteger(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard rest.popFirst() == 0x02, let length = rest.popFirst(), Int(length) <= rest.count else { return nil }
    let digits = rest.prefix(Int(length)).drop { $0 == 0 }
    rest = rest.dropFirst(Int(length))
    guard digits.count <= scalarBytes else { return nil }
    return [UInt8](repeating: 0, count: scalarBytes - digits.count) + digits
  }
}
