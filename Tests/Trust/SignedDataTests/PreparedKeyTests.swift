import Testing

@testable import SignedData

@Suite struct PreparedKeyTests {
  private let message = Array("message".utf8)

  @Test("A prepared key accepts what it accepted before, and nothing else")
  func agreement() throws {
    let signer = try SigningKey.generate(.p256)
    let der = try signer.publicKeyDER()
    let plain = try #require(PublicKey(try KeyReference.publicKey(der: der)))
    let prepared = try #require(PublicKey(try KeyReference.publicKey(der: der)))
    try prepared.prepare()
    #expect(prepared.isPrepared && !plain.isPrepared)
    for round in UInt8(0)..<64 {
      let text = message + [round]
      var signature = try signer.sign(text[...])
      #expect(try prepared.verifies(signature[...], of: text[...]))
      signature[Int(round)] ^= 1
      #expect(try !prepared.verifies(signature[...], of: text[...]))
      #expect(try !plain.verifies(signature[...], of: text[...]))
    }
  }

  @Test("Numbers outside 1 ..< n, and other lengths, are no signature (FIPS 186-5, 6.4.2, step 1)")
  func ranges() throws {
    let signer = try SigningKey.generate(.p256)
    let key = try #require(PublicKey(try KeyReference.publicKey(der: try signer.publicKeyDER())))
    try key.prepare()
    let valid = try signer.sign(message[...])
    let zero = [UInt8](repeating: 0, count: 32)
    let most = [UInt8](repeating: 0xFF, count: 32)
    let order = try bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    for scalar in [zero, most, order] {
      #expect(try !key.verifies((scalar + valid.suffix(32))[...], of: message[...]))
      #expect(try !key.verifies((valid.prefix(32) + scalar)[...], of: message[...]))
    }
    #expect(try !key.verifies(valid.dropLast(), of: message[...]))
    #expect(try key.verifies(valid[...], of: message[...]))
  }

  /// Keys and signatures of "message" that meet the rare cases, worked out with the formulas of FIPS 186-5.
  struct RareCase: CustomTestStringConvertible {
    let testDescription: String
    let point: String
    let signature: String
    let isValid: Bool
  }

  static let rareCases = [
    RareCase(
      testDescription: "the point's coordinate is larger than the order",
      point: "2638d6e27e816337c9430476e41bfff379ce8c1381376297af3e4e328e45695b"
        + "a28bc7569996667edd2ef18b878a8f54ded86b84c0a92283a4c8cbc1d730d7d1",
      signature: "0000000000000000000000000000000000000000000000000000000000000003"
        + "0000000000000000000000000000000000000000000000000000000000000007",
      isValid: true),
    RareCase(
      testDescription: "both products are the same point",
      point: "fd39166be8bcfbd40e9e173c1ef9a3cd1ecd36d5069ac640870f03b44fd1e8b9"
        + "291e77fcd3c1b863cad06045833bd8d31bb518b39ca0a043570e183fd038736b",
      signature: "26efcebd0ee9e34a669187e18b3a9122b2f733945b649cc9f9f921e9f9dad812"
        + "76ff29c8fff43c59a8b973868d3723ac9499f36d0c161c5c8e62590fd28e6c0b",
      isValid: true),
    RareCase(
      testDescription: "the sum of the products is the point at infinity",
      point: "fd39166be8bcfbd40e9e173c1ef9a3cd1ecd36d5069ac640870f03b44fd1e8b9"
        + "d6e188022c3e479d352f9fba7cc4272ce44ae74d635f5fbca8f1e7c02fc78c94",
      signature: "26efcebd0ee9e34a669187e18b3a9122b2f733945b649cc9f9f921e9f9dad812"
        + "0000000000000000000000000000000000000000000000000000000000000009",
      isValid: false),
  ]

  @Test("Where the formulas have their exceptions", arguments: rareCases)
  func rare(_ rare: RareCase) throws {
    let signature = try bytes(rare.signature)
    // SubjectPublicKeyInfo of a P-256 key, RFC 5480, up to the uncompressed point.
    let start = try bytes("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
    let key = try #require(PublicKey(try KeyReference.publicKey(der: start + bytes(rare.point))))
    #expect(try key.verifies(signature[...], of: message[...]) == rare.isValid)
    try key.prepare()
    #expect(try key.verifies(signature[...], of: message[...]) == rare.isValid)
  }

  @Test("A key that is met often prepares itself")
  func often() async throws {
    let signer = try SigningKey.generate(.p256)
    let key = try #require(PublicKey(try KeyReference.publicKey(der: try signer.publicKeyDER())))
    let signature = try signer.sign(message[...])
    for _ in 1..<PublicKey.checksBeforePreparing {
      #expect(try key.verifies(signature[...], of: message[...]))
    }
    #expect(!key.isPrepared)
    #expect(try key.verifies(signature[...], of: message[...]))
    while !key.isPrepared { await Task.yield() }
    #expect(try key.verifies(signature[...], of: message[...]))
    #expect(try !key.verifies(signature[...], of: Array("massage".utf8)[...]))
  }
}

@Suite struct ModularInverseTests {
  private let order: [UInt8]
  private let inverse: ModularInverse
  private let one = [UInt8](repeating: 0, count: 31) + [1]

  init() throws {
    order = try bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    inverse = try #require(ModularInverse(modulus: order[...]))
  }

  @Test("A number times its inverse is one")
  func products() throws {
    for round in 0..<600 {
      // Also short numbers, and such with long runs of equal bits.
      let length = 1 + round % 32
      var number = (0..<length).map { _ in UInt8.random(in: 0...255) }
      if round.isMultiple(of: 3) { number = number.map { $0 < 128 ? 0 : 0xFF } }
      number[length - 1] |= 1
      if length == 32 { number[0] &= 0x7F }
      let padded = [UInt8](repeating: 0, count: 32 - length) + number
      let found = try #require(inverse(padded[...]), "\(padded)")
      #expect(product(padded, found) == one, "\(padded)")
      #expect(found.lexicographicallyPrecedes(order), "\(padded)")
    }
  }

  @Test("The smallest and the largest have one; zero, the modulus and other lengths have none")
  func edges() throws {
    var last = order
    last[31] -= 1
    #expect(inverse(one[...]) == one)
    #expect(inverse(last[...]) == last)
    #expect(inverse([UInt8](repeating: 0, count: 32)[...]) == nil)
    #expect(inverse(order[...]) == nil)
    #expect(inverse(one.dropFirst()) == nil)
    #expect(ModularInverse(modulus: last[...]) == nil)
  }

  /// As on paper: for each bit of one, the highest first, all is doubled, and the other added if it is set.
  private func product(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    for byte in first {
      for bit in (0..<8).reversed() {
        result = sum(result, result)
        if byte >> UInt8(bit) & 1 == 1 { result = sum(result, second) }
      }
    }
    return result
  }

  /// Of two numbers below the order, modulo it.
  private func sum(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
    var (sum, carry) = ([UInt8](repeating: 0, count: 32), 0)
    for index in (0..<32).reversed() {
      carry += Int(first[index]) + Int(second[index])
      sum[index] = UInt8(truncatingIfNeeded: carry)
      carry >>= 8
    }
    guard carry == 1 || !sum.lexicographicallyPrecedes(order) else { return sum }
    var borrow = 0
    for index in (0..<32).reversed() {
      borrow += Int(sum[index]) - Int(order[index])
      sum[index] = UInt8(truncatingIfNeeded: borrow)
      borrow >>= 8
    }
    return sum
  }
}

private func bytes(_ hexadecimal: String) throws -> [UInt8] {
  let digits = try hexadecimal.map { try #require($0.hexDigitValue) }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}
