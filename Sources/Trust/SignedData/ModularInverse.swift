/// Inverts numbers modulo an odd number of 256 bits, such as the order of P-256.
///
/// For numbers that anybody may know, as those of a signature are: how long it takes depends on them. The
/// algorithm is Bernstein and Yang's (https://gcd.cr.yp.to/safegcd-20190413.pdf) as libsecp256k1 does it (its
/// doc/safegcd_implementation.md): 62 division steps at a time are worked out from the lowest bits alone, and
/// then done to the whole numbers by multiplying with a matrix.
struct ModularInverse {
  private let modulus: Signed310
  /// The inverse of the modulus modulo 2^62.
  private let inverse: UInt64

  /// Modulo a number of 32 bytes, the highest first; `nil` if it is even.
  init?(modulus bytes: ArraySlice<UInt8>) {
    guard let modulus = Signed310(bytes), modulus.a & 1 == 1 else { return nil }
    self.modulus = modulus
    let lowest = UInt64(modulus.a)
    // An odd number is its own inverse modulo 8; each step of Newton's doubles the bits that are right.
    inverse = (0..<5).reduce(lowest) { inverse, _ in inverse &* (2 &- lowest &* inverse) } & low62
  }

  /// The inverse of a number of 32 bytes, the highest first, in 32 bytes; `nil` if it has none.
  func callAsFunction(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    guard var g = Signed310(bytes) else { return nil }
    // All the time f is d times the number, and g is e times it.
    var (f, d, e) = (modulus, Signed310.zero, Signed310.one)
    var eta: Int64 = -1
    while !g.isZero {
      let steps = DivisionSteps(&eta, f: UInt64(bitPattern: f.a), g: UInt64(bitPattern: g.a))
      steps.apply(to: &d, &e, modulo: modulus, inverse)
      steps.apply(to: &f, &g)
    }
    // What is left is what the number and the modulus have in common, or that below zero.
    guard f == .one || f == Signed310.one.negated else { return nil }
    if d.isNegative { d.add(modulus) }
    if f.isNegative { d = d.negated }
    if d.isNegative { d.add(modulus) }
    return d.bytes
  }
}

private let low62: UInt64 = 1 << 62 - 1

/// A number of 310 bits with its sign. It has room for what division steps make of numbers of 256 bits.
private struct Signed310: Equatable {
  /// 62 bits each, the lowest first; the highest has the sign.
  var a, b, c, d, e: Int64

  static let zero = Signed310(a: 0, b: 0, c: 0, d: 0, e: 0)
  static let one = Signed310(a: 1, b: 0, c: 0, d: 0, e: 0)

  init(a: Int64, b: Int64, c: Int64, d: Int64, e: Int64) {
    (self.a, self.b, self.c, self.d, self.e) = (a, b, c, d, e)
  }

  /// 32 bytes, the highest first.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == 32 else { return nil }
    func word(_ index: Int) -> UInt64 {
      bytes.dropFirst(8 * index).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
    let (first, second, third, fourth) = (word(3), word(2), word(1), word(0))
    a = Int64(first & low62)
    b = Int64((first >> 62 | second << 2) & low62)
    c = Int64((second >> 60 | third << 4) & low62)
    d = Int64((third >> 58 | fourth << 6) & low62)
    e = Int64(fourth >> 56)
  }

  /// 32 bytes, the highest first, of a number that has no more and no sign.
  var bytes: [UInt8] {
    let words = [d >> 6 | e << 56, c >> 4 | d << 58, b >> 2 | c << 60, a | b << 62]
    return words.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
  }

  var isZero: Bool { a | b | c | d | e == 0 }
  var isNegative: Bool { e < 0 }

  var negated: Signed310 {
    Signed310(a: 0 &- a, b: 0 &- b, c: 0 &- c, d: 0 &- d, e: 0 &- e).carried
  }

  mutating func add(_ other: Signed310) {
    self =
      Signed310(
        a: a &+ other.a, b: b &+ other.b, c: c &+ other.c, d: d &+ other.d, e: e &+ other.e
      ).carried
  }

  /// The same number with 62 bits in each part again.
  private var carried: Signed310 {
    let mask = Int64(low62)
    let second = b &+ a >> 62
    let third = c &+ second >> 62
    let fourth = d &+ third >> 62
    return Signed310(a: a & mask, b: second & mask, c: third & mask, d: fourth & mask, e: e &+ fourth >> 62)
  }
}

/// What 62 division steps do to two numbers: they become `(u f + v g) / 2^62` and `(q f + r g) / 2^62`.
private struct DivisionSteps {
  private let u, v, q, r: Int64

  /// The steps for numbers that end in these bits; `eta` goes on from one call to the next.
  init(_ eta: inout Int64, f: UInt64, g: UInt64) {
    var (f, g) = (f, g)
    var (u, v, q, r): (UInt64, UInt64, UInt64, UInt64) = (1, 0, 0, 1)
    var left: Int64 = 62
    while true {
      // The steps in which g is even, which halve it: as many as there are zeros, at most those left.
      let zeros = (g | UInt64.max &<< UInt64(left)).trailingZeroBitCount
      g = g &>> UInt64(zeros)
      u = u &<< UInt64(zeros)
      v = v &<< UInt64(zeros)
      eta &-= Int64(zeros)
      left &-= Int64(zeros)
      guard left > 0 else { break }
      if eta < 0 {
        eta = 0 &- eta
        (f, g) = (g, 0 &- f)
        (u, q) = (q, 0 &- u)
        (v, r) = (r, 0 &- v)
      }
      // So often f may be added until eta is below zero: with the right factor that clears as many bits of g,
      // at most six, in which an odd f has the inverse f (2 - f f).
      let mask = UInt64.max &>> UInt64(64 - min(eta + 1, left)) & 63
      let factor = f &* g &* (f &* f &- 2) & mask
      g &+= f &* factor
      q &+= u &* factor
      r &+= v &* factor
    }
    (self.u, self.v) = (Int64(bitPattern: u), Int64(bitPattern: v))
    (self.q, self.r) = (Int64(bitPattern: q), Int64(bitPattern: r))
  }

  /// Does them to the numbers whose greatest common divisor is looked for.
  func apply(to f: inout Signed310, _ g: inout Signed310) {
    var (first, second) = (Sum(), Sum())
    /// The parts of the results below those of `f` and `g` that are given.
    func next(_ f: Int64, _ g: Int64) -> (Int64, Int64) {
      first.add(u, f)
      first.add(v, g)
      second.add(q, f)
      second.add(r, g)
      return (first.next(), second.next())
    }
    _ = next(f.a, g.a)
    (f.a, g.a) = next(f.b, g.b)
    (f.b, g.b) = next(f.c, g.c)
    (f.c, g.c) = next(f.d, g.d)
    (f.d, g.d) = next(f.e, g.e)
    (f.e, g.e) = (first.rest, second.rest)
  }

  /// Does them to the factors of the number; a multiple of the modulus makes the division by 2^62 come out even.
  func apply(
    to d: inout Signed310, _ e: inout Signed310, modulo modulus: Signed310, _ inverse: UInt64
  ) {
    // Both stay between -2 and 1 times the modulus.
    let first = multiple(of: modulus, after: u, v, d, e, inverse)
    let second = multiple(of: modulus, after: q, r, d, e, inverse)
    let (old, other) = (d, e)
    d = combined(u, old, v, other, first, modulus)
    e = combined(q, old, r, other, second, modulus)
  }

  private func multiple(
    of modulus: Signed310, after u: Int64, _ v: Int64, _ d: Signed310, _ e: Signed310, _ inverse: UInt64
  ) -> Int64 {
    let start = (d.isNegative ? u : 0) &+ (e.isNegative ? v : 0)
    let lowest = UInt64(bitPattern: u &* d.a &+ v &* e.a)
    return start &- Int64((inverse &* lowest &+ UInt64(bitPattern: start)) & low62)
  }

  private func combined(
    _ u: Int64, _ d: Signed310, _ v: Int64, _ e: Signed310, _ multiple: Int64, _ modulus: Signed310
  ) -> Signed310 {
    var sum = Sum()
    func next(_ d: Int64, _ e: Int64, _ modulus: Int64) -> Int64 {
      sum.add(u, d)
      sum.add(v, e)
      sum.add(multiple, modulus)
      return sum.next()
    }
    _ = next(d.a, e.a, modulus.a)
    let (a, b) = (next(d.b, e.b, modulus.b), next(d.c, e.c, modulus.c))
    let (c, d) = (next(d.d, e.d, modulus.d), next(d.e, e.e, modulus.e))
    return Signed310(a: a, b: b, c: c, d: d, e: sum.rest)
  }
}

/// Adds up products of which 62 bits at a time are taken off at the low end.
private struct Sum {
  private var value: Int128 = 0

  mutating func add(_ first: Int64, _ second: Int64) {
    let product = first.multipliedFullWidth(by: second)
    value &+= Int128(product.high) << 64 | Int128(product.low)
  }

  mutating func next() -> Int64 {
    defer { value = value >> 62 }
    return Int64(truncatingIfNeeded: value) & Int64(low62)
  }

  var rest: Int64 { Int64(truncatingIfNeeded: value) }
}
