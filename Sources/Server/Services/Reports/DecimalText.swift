extension [UInt8] {
  /// Appends a number in decimal digits, without the text that `String` would make of it first.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = count
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = quotient
    } while rest > 0
    self[start...].reverse()
  }
}
