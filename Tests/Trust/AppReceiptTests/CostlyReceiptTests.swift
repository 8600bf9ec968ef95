import AppReceipt
import SignedData
import TestSupport
import Testing

/// Receipts that a stranger builds from one of Apple to occupy a verifier for minutes.
@Suite struct CostlyReceiptTests {
  private let chain: ReceiptChain
  private let verifier: SignedDataVerifier

  init() throws {
    chain = try ReceiptChain()
    verifier = try chain.verifier()
  }

  @Test("The content is hashed once, whatever digest algorithms a receipt lists")
  func digestAlgorithms() throws {
    // SHA-512: many seconds, if each of them hashes the content.
    let algorithm: [UInt8] = [0x30, 11, 0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3]
    for (count, reason) in [(800, "BAD_SIGNATURE"), (20_000, "TOO_MANY")] {
      let receipt = try changed { member in
        switch member {
        case 1: element(0x31, [[UInt8]](repeating: algorithm, count: count).flatMap(\.self))
        case 2:
          element(
            0x30,
            [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
              + element(0xA0, element(0x04, [UInt8](repeating: 0, count: 4 << 20))))
        default: nil
        }
      }
      var refusal: String?
      let duration = ContinuousClock().measure { refusal = verifier.refusal(of: receipt) }
      #expect(refusal == reason)
      #expect(duration < .seconds(1))
    }
  }

  @Test(
    "A receipt with a certificate that is larger than Apple's is rejected before its extensions are decoded")
  func largeCertificate() throws {
    // A certificate's signature can have any length: only those of the chain are verified.
    let members = try chain.root.der.children()
    let large = element(0x30, members[0] + members[1] + element(0x03, [UInt8](repeating: 0, count: 20_000)))
    let receipt = try changed { member in
      member == 3 ? element(0xA0, chain.leaf.der + chain.intermediate.der + large) : nil
    }
    #expect(verifier.refusal(of: receipt) == "MALFORMED_CERTIFICATE")
  }

  @Test("Changing no member of a receipt leaves it valid")
  func unchanged() throws { #expect(verifier.refusal(of: try changed { _ in nil }) == nil) }

  /// A receipt, some members of its `SignedData` replaced: 1 is the set of digest algorithms, 2 the content, 3 the
  /// certificates.
  private func changed(_ replacement: (Int) -> [UInt8]?) throws -> [UInt8] {
    let outer = try chain.signer.sign(content: ReceiptChain.content().content).children()
    let members = try outer[1].children()[0].children()
    let changed = members.enumerated().flatMap { replacement($0.offset) ?? $0.element }
    return element(0x30, outer[0] + element(0xA0, element(0x30, changed)))
  }
}

/// Encodes an element (X.690) with a length of four bytes, which BER permits.
private func element(_ identifier: UInt8, _ content: [UInt8]) -> [UInt8] {
  [identifier, 0x84] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) }
    + content
}

extension [UInt8] {
  /// The elements in the element that these bytes are, encoded in DER.
  fileprivate func children() throws -> [[UInt8]] {
    var rest = self[try Self.contentStart(self[...])...]
    var children: [[UInt8]] = []
    while !rest.isEmpty {
      let start = try Self.contentStart(rest)
      let lengthBytes = rest[rest.startIndex + 1..<start]
      let length =
        lengthBytes.count == 1
        ? Int(lengthBytes[lengthBytes.startIndex]) : lengthBytes.dropFirst().reduce(0) { $0 << 8 | Int($1) }
      children.append(Array(rest[rest.startIndex..<start + length]))
      rest = rest[(start + length)...]
    }
    return children
  }

  /// The index after the identifier and the length.
  private static func contentStart(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let first = try #require(bytes.dropFirst().first)
    return bytes.startIndex + 2 + (first & 0x80 == 0 ? 0 : Int(first & 0x7F))
  }
}
