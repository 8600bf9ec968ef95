import Bytes
import Testing

@testable import SignedData

@Suite struct PublicKeyTests {
  private let message = Array("message".utf8)

  @Test(
    "Signatures with r or s outside 1 ..< n, or of another length, are invalid (FIPS 186-5, 6.4.2, step 1)")
  func ranges() throws {
    let signer = try SigningKey.generate(.p256)
    let key = try #require(PublicKey(signer.reference))
    let valid = try signer.sign(message[...])
    let zero = [UInt8](repeating: 0, count: 32)
    let most = [UInt8](repeating: 0xFF, count: 32)
    let order = try #require(Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
    for scalar in [zero, most, order] {
      #expect(try !key.verifies((scalar + valid.suffix(32))[...], of: message[...]))
      #expect(try !key.verifies((valid.prefix(32) + scalar)[...], of: message[...]))
    }
    #expect(try !key.verifies(valid.dropLast(), of: message[...]))
    #expect(try key.verifies(valid[...], of: message[...]))
  }

  /// Keys and signatures of "message" that reach rare cases, computed with the formulas of FIPS 186-5.
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

  @Test("Exceptional cases of point addition verify as FIPS 186-5 defines", arguments: rareCases)
  func rareCase(_ rare: RareCase) throws {
    let signature = try #require(Hex.decode(rare.signature))
    // SubjectPublicKeyInfo of a P-256 key, RFC 5480, up to the uncompressed point.
    let start = try #require(Hex.decode("3059301306072a8648ce3d020106082a8648ce3d03010703420004"))
    let point = try #require(Hex.decode(rare.point))
    let key = try #require(PublicKey(try KeyReference.publicKey(der: start + point)))
    #expect(try key.verifies(signature[...], of: message[...]) == rare.isValid)
  }
}
