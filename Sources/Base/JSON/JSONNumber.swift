/// A JSON number, stored as its literal, so that 64-bit identifiers keep their precision and a signed
/// document can be shown unchanged.
package struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
  /// The number as written: digits, an optional fraction, an optional exponent.
  package let literal: String

  /// The number as written.
  package var description: String { literal }

  /// For the parser, which has validated the grammar.
  init(validatedLiteral literal: String) { self.literal = literal }

  /// An integer in its decimal form.
  package init(_ value: Int64) { literal = String(value) }

  /// The shortest decimal that reads back as `value`, or `nil` for an infinity or NaN, which JSON lacks.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    literal = value.description
  }

  /// The exact integer, or `nil` if the number has a fraction or does not fit.
  ///
  /// Accepts a zero fraction and an exponent (`1.0`, `1e3`) up to 2^53, where `Double` is exact.
  package var int64: Int64? {
    if let plain = Int64(literal) { return plain }
    guard literal.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) else {
      return nil
    }
    let value = double
    guard value.magnitude <= 9_007_199_254_740_992 else { return nil }
    // Not `Int64(exactly:)`, which would need to link the C math library.
    let integer = Int64(value)
    return Double(integer) == value ? integer : nil
  }

  /// The nearest `Double`; infinite if the number is beyond its range.
  package var double: Double { Double(literal) ?? .nan }
}
