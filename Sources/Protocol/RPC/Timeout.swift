/// The timeout of a caller (gRPC over HTTP/2, "Timeout"): at most eight digits and a unit.
package struct Timeout: Hashable, Sendable {
  /// At most `Int64.max`, about 292 years; longer timeouts are limited to it.
  package let nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Decodes a `grpc-timeout`; `nil` for a malformed one.
  package init?(_ value: UnsafeRawBufferPointer) {
    guard value.count >= 2, value.count <= 9, let unit = value.last.flatMap(Self.nanoseconds(perUnit:))
    else { return nil }
    var amount: Int64 = 0
    for digit in value.dropLast() {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      amount = amount * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    let (nanoseconds, tooLong) = amount.multipliedReportingOverflow(by: unit)
    self.nanoseconds = tooLong ? .max : nanoseconds
  }

  /// The value of the header, in the finest unit that needs at most eight digits.
  package var headerValue: String {
    var amount = nanoseconds
    for (unit, factor) in [("n", 1_000), ("u", 1_000), ("m", 1_000), ("S", 60), ("M", 60)]
      as [(String, Int64)]
    {
      if amount < 100_000_000 { return "\(amount)\(unit)" }
      amount /= factor
    }
    return "\(min(amount, 99_999_999))H"
  }

  private static func nanoseconds(perUnit unit: UInt8) -> Int64? {
    switch unit {
    case UInt8(ascii: "n"): 1
    case UInt8(ascii: "u"): 1_000
    case UInt8(ascii: "m"): 1_000_000
    case UInt8(ascii: "S"): 1_000_000_000
    case UInt8(ascii: "M"): 60_000_000_000
    case UInt8(ascii: "H"): 3_600_000_000_000
    default: nil
    }
  }
}
