internal import COpenSSL
internal import Synchronization

/// A P-256 key with a table of multiples of its point, which halves the cost of a check.
///
/// OpenSSL has such a table for the curve's own generator, and takes one for another point that is
/// made the generator of a group: then both products of a check (FIPS 186-5, section 6.4.2) are
/// additions of what stands in a table. Making it takes some 40 ms and 150 KiB, so it is for keys
/// that are met often.
final class PreparedKey: Sendable {
  private let curve: CurveGroup
  private let key: CurveGroup
  /// Scratch numbers that no thread is using now.
  private let idle = Mutex<[ECDSACheck]>([])

  /// Makes the table for the key whose point, as SEC 1 section 2.3.3 writes it, is `encodedPoint`.
  init(encodedPoint: [UInt8]) throws(CryptographyError) {
    curve = try CurveGroup()
    key = try CurveGroup(generator: encodedPoint)
  }

  /// Whether `signature` is this key's for what has the hash `digest`.
  func verifies(_ signature: ECDSASignature, of digest: [UInt8]) throws(CryptographyError) -> Bool {
    let idleCheck = idle.withLock { $0.popLast() }
    let check = if let idleCheck { idleCheck } else { try ECDSACheck(curve: curve, key: key) }
    defer { idle.withLock { $0.append(check) } }
    return try check.accepts(signature, of: digest)
  }
}

/// Owns the group of points of P-256, with one of them as its generator.
private final class CurveGroup: @unchecked Sendable {
  // Unchecked: the group is never changed after it was made.
  let pointer: OpaquePointer

  private static let unprepared = "prepare a public key"

  /// With the curve's own generator, whose table is part of OpenSSL.
  init() throws(CryptographyError) {
    pointer = try made(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), Self.unprepared)
  }

  /// With `generator` (SEC 1, section 2.3.3) for the curve's, and a table for it.
  convenience init(generator: [UInt8]) throws(CryptographyError) {
    try self.init()
    let point = try made(EC_POINT_new(pointer), Self.unprepared)
    defer { EC_POINT_free(point) }
    try check(EC_POINT_oct2point(pointer, point, generator, generator.count, nil), Self.unprepared)
    try check(
      EC_GROUP_set_generator(
        pointer, point, EC_GROUP_get0_order(pointer), EC_GROUP_get0_cofactor(pointer)),
      Self.unprepared)
    try check(entitled_group_precompute(pointer), Self.unprepared)
  }

  deinit { EC_GROUP_free(pointer) }
}

/// Checks one signature at a time; the names are those of FIPS 186-5, section 6.4.2.
private final class ECDSACheck: @unchecked Sendable {
  // Unchecked: only the thread that took it out of the pool uses it.
  private let curve: CurveGroup
  private let key: CurveGroup
  private let n: OpaquePointer
  /// The modulus of the coordinates.
  private let p: OpaquePointer
  private let context: OpaquePointer
  private let r, s, e, u, v, x, z: OpaquePointer
  private let inverse: ModularInverse
  private let sum, product: OpaquePointer

  private static let unchecked = "check a signature"

  init(curve: CurveGroup, key: CurveGroup) throws(CryptographyError) {
    func number() throws(CryptographyError) -> OpaquePointer { try made(BN_new(), Self.unchecked) }
    self.curve = curve
    self.key = key
    n = try made(EC_GROUP_get0_order(curve.pointer), Self.unchecked)
    p = try made(EC_GROUP_get0_field(curve.pointer), Self.unchecked)
    inverse = try Self.inverse(modulo: n)
    context = try made(BN_CTX_new(), Self.unchecked)
    (r, s, e) = (try number(), try number(), try number())
    (u, v, x, z) = (try number(), try number(), try number(), try number())
    sum = try made(EC_POINT_new(curve.pointer), Self.unchecked)
    product = try made(EC_POINT_new(curve.pointer), Self.unchecked)
  }

  deinit {
    for number in [r, s, e, u, v, x, z] { BN_free(number) }
    for point in [sum, product] { EC_POINT_free(point) }
    BN_CTX_free(context)
  }

  func accepts(_ signature: ECDSASignature, of digest: [UInt8]) throws(CryptographyError) -> Bool {
    try read(signature.r, into: r)
    try read(signature.s, into: s)
    guard isScalar(r), isScalar(s) else { return false }
    try read(digest, into: e)
    guard let inverse = inverse(signature.s) else { return false }
    // From here on it stands for its inverse.
    try read(inverse, into: s)
    try check(BN_mod_mul(u, e, s, n, context), Self.unchecked)
    try check(BN_mod_mul(v, r, s, n, context), Self.unchecked)

    try check(EC_POINT_mul(curve.pointer, sum, u, nil, nil, context), Self.unchecked)
    try check(EC_POINT_mul(key.pointer, product, v, nil, nil, context), Self.unchecked)
    try check(EC_POINT_add(curve.pointer, sum, sum, product, context), Self.unchecked)
    guard EC_POINT_is_at_infinity(curve.pointer, sum) == 0 else { return false }
    return try isCoordinateOfSum(r)
  }

  /// Whether the affine x of the sum is `number` modulo n. To multiply is cheaper than to divide.
  private func isCoordinateOfSum(_ number: OpaquePointer) throws(CryptographyError) -> Bool {
    try check(entitled_point_coordinates(curve.pointer, sum, x, z, context), Self.unchecked)
    try check(BN_mod_sqr(z, z, p, context), Self.unchecked)
    repeat {
      try check(BN_mod_mul(u, number, z, p, context), Self.unchecked)
      if BN_cmp(u, x) == 0 { return true }
      // The field is a little larger than n: what is smaller than the difference stands for two.
      try check(BN_add(number, number, n), Self.unchecked)
    } while BN_cmp(number, p) < 0
    return false
  }

  private static func inverse(modulo n: OpaquePointer) throws(CryptographyError) -> ModularInverse {
    var bytes = [UInt8](repeating: 0, count: 32)
    guard BN_bn2binpad(n, &bytes, 32) == 32, let inverse = ModularInverse(modulus: bytes[...]) else {
      throw .failed(operation: unchecked, detail: ErrorQueue.take())
    }
    return inverse
  }

  private func read(_ bytes: ArraySlice<UInt8>, into number: OpaquePointer) throws(CryptographyError) {
    let result = bytes.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, CInt($0.count), number) }
    _ = try made(result, Self.unchecked)
  }

  private func read(_ bytes: [UInt8], into number: OpaquePointer) throws(CryptographyError) {
    try read(bytes[...], into: number)
  }

  /// Whether it is in 1 ..< n.
  private func isScalar(_ number: OpaquePointer) -> Bool { BN_is_zero(number) == 0 && BN_cmp(number, n) < 0 }
}
