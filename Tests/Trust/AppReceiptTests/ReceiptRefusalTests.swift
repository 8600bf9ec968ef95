import AppReceipt
import AppStore
import Bytes
import SignedData
import TestSupport
import Testing

/// The receipts that the verifier must refuse, and the reason of each refusal.
@Suite struct ReceiptRefusalTests {
  let chain: ReceiptChain
  let verifier: SignedDataVerifier

  init() throws {
    chain = try ReceiptChain()
    verifier = try chain.verifier()
  }

  private func refusal(_ content: ReceiptBuilder, digest: ReceiptSigner.Digest = .sha256) throws -> String? {
    verifier.refusal(of: try chain.signer.sign(content: content.content, digest: digest))
  }

  @Test("A receipt under a configured root is accepted with SHA-256 and SHA-1")
  func accepted() throws {
    for digest in ReceiptSigner.Digest.allCases {
      #expect(try refusal(ReceiptChain.content(), digest: digest) == nil)
    }
  }

  @Test(
    "Receipts with RSA and elliptic-curve signatures are accepted",
    .enabled(if: OpenSSLCommand.exists, "there is no openssl command"))
  func rsa() throws {
    let rsa = try ReceiptChain(key: OpenSSLCommand.rsaKey())
    for digest in ReceiptSigner.Digest.allCases {
      let receipt = try rsa.signer.sign(content: ReceiptChain.content().content, digest: digest)
      #expect(try rsa.verifier().refusal(of: receipt) == nil)
      #expect(verifier.refusal(of: receipt) == "UNTRUSTED_ROOT")
    }
  }

  @Test(
    "Bytes other than PKCS#7 signed data are rejected",
    arguments: [
      [], [0x30], [0x30, 0x80], [0x30, 0x00], [0x04, 0x00], [0x04, 0x82], [0x24, 0x80], [0x7B, 0x7D],
    ])
  func notAReceipt(bytes: [UInt8]) { #expect(verifier.refusal(of: bytes) == "NOT_A_RECEIPT") }

  @Test("Truncated receipts and trailing bytes are rejected")
  func ends() throws {
    let receipt = try chain.signer.sign(content: ReceiptChain.content().content)
    #expect(verifier.refusal(of: receipt + [0]) == "NOT_A_RECEIPT")
    for count in stride(from: 0, to: receipt.count, by: 13) {
      #expect(verifier.refusal(of: Array(receipt.prefix(count))) == "NOT_A_RECEIPT")
    }
  }

  @Test("A receipt as text must be Base64, with or without line breaks")
  func base64() throws {
    let receipt = try chain.signer.sign(content: ReceiptChain.content().content)
    let text = Base64.standard.encode(receipt)
    let cases = [
      (text, nil), (PEM(label: "X", bytes: receipt).text.split(separator: "-")[1].description, nil),
      (String(text.dropLast()), "NOT_BASE64"), ("%\(text.dropFirst())", "NOT_BASE64"),
      ("", "NOT_A_RECEIPT"), ("AAAA", "NOT_A_RECEIPT"),
    ]
    for (text, expected) in cases {
      var reason: String?
      do throws(VerificationError) {
        let _: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
          base64: text, for: exampleApp, environments: [.sandbox])
      } catch { reason = error.reason }
      #expect(reason == expected)
    }
  }

  @Test("The root inside a receipt is neither trusted nor required")
  func rootIsIgnored() throws {
    let stranger = try ReceiptChain(name: "Stranger")
    let content = ReceiptChain.content().content
    for certificates in [[chain.leaf, chain.intermediate], [chain.leaf, stranger.root, chain.intermediate]] {
      let receipt = try ReceiptSigner(key: chain.key, chain: certificates).sign(content: content)
      #expect(verifier.refusal(of: receipt) == nil)
    }
    #expect(verifier.refusal(of: try stranger.signer.sign(content: content)) == "UNTRUSTED_ROOT")
    let impostor = try ReceiptChain()
    #expect(verifier.refusal(of: try impostor.signer.sign(content: content)) == "UNTRUSTED_ROOT")
  }

  @Test("A receipt without its intermediate certificate is rejected")
  func noIntermediate() throws {
    let content = ReceiptChain.content().content
    for certificates in [[chain.leaf], [chain.leaf, chain.root]] {
      let receipt = try ReceiptSigner(key: chain.key, chain: certificates).sign(content: content)
      #expect(verifier.refusal(of: receipt) == "UNTRUSTED_ROOT")
    }
  }

  @Test("A receipt with too many certificates is rejected before they are decoded")
  func manyCertificates() throws {
    let others = try (0..<8).map { _ in try ReceiptChain().root }
    let signer = ReceiptSigner(key: chain.key, chain: [chain.leaf, chain.intermediate] + others)
    let receipt = try signer.sign(content: ReceiptChain.content().content)
    #expect(verifier.refusal(of: receipt) == "WRONG_CERTIFICATE_COUNT")
  }

  @Test("A chain without both of Apple's marker OIDs is rejected")
  func markers() throws {
    for (intermediate, leaf) in [(false, true), (true, false), (false, false)] {
      let unmarked = try ReceiptChain(markedIntermediate: intermediate, markedLeaf: leaf)
      let receipt = try unmarked.signer.sign(content: ReceiptChain.content().content)
      #expect(try unmarked.verifier().refusal(of: receipt) == "MISSING_MARKER_OID")
    }
  }

  @Test("A signature by another key than the certificate's is rejected")
  func otherKey() throws {
    let receipt = try chain.signer.sign(content: ReceiptChain.content().content)
    let other = try chain.signer.sign(content: ReceiptChain.content(bundle: "com.another").content)
    // Signatures vary in length by some bytes; the tail of each is its signature.
    let swapped = Array(receipt.dropLast(40)) + other.suffix(40)
    #expect(["BAD_SIGNATURE", "NOT_A_RECEIPT"].contains(verifier.refusal(of: swapped)))
  }

  @Test("Certificates must be valid at the creation date, to the second")
  func dates() throws {
    let cases: [(Instant, String?)] = [
      (ReceiptChain.start, nil),
      (ReceiptChain.start.advanced(byMilliseconds: -1000), "CHAIN_EXPIRED_AT_SIGNING"),
      (ReceiptChain.end, nil),
      (ReceiptChain.end.advanced(byMilliseconds: 1000), "CHAIN_EXPIRED_AT_SIGNING"),
    ]
    for (created, expected) in cases {
      #expect(try refusal(ReceiptChain.content(created: created)) == expected)
    }
    #expect(try refusal(ReceiptChain.content(created: nil)) == "MISSING_FIELD")
  }

  @Test("A receipt for another app or without an app is rejected")
  func apps() throws {
    #expect(try refusal(ReceiptChain.content(bundle: "com.example.other")) == "WRONG_BUNDLE")
    #expect(try refusal(ReceiptChain.content(bundle: nil)) == "MISSING_FIELD")
    #expect(try refusal(ReceiptChain.content(bundle: "")) == "MISSING_FIELD")
  }

  @Test("A receipt without a type is never accepted for Production")
  func environments() throws {
    #expect(try refusal(ReceiptChain.content(type: nil)) == nil)
    #expect(try refusal(ReceiptChain.content(type: "ProductionVPPSandbox")) == nil)
    #expect(try refusal(ReceiptChain.content(type: "Moon")) == "WRONG_ENVIRONMENT")
    #expect(try refusal(ReceiptChain.content(type: "Production")) == "UNTRUSTED_ROOT")
    let production = try chain.verifier(for: .production)
    for (type, expected) in [
      ("Production", nil), ("ProductionVPP", nil), (nil, "UNTRUSTED_ROOT"),
    ] {
      let receipt = try chain.signer.sign(content: ReceiptChain.content(type: type).content)
      #expect(production.refusal(of: receipt, environments: [.production, .sandbox]) == expected)
    }
    let sandbox = try chain.signer.sign(content: ReceiptChain.content().content)
    #expect(verifier.refusal(of: sandbox, environments: [.production]) == "WRONG_ENVIRONMENT")
  }

  @Test("A signed message with other content than a receipt is rejected")
  func content() throws {
    for content: [UInt8] in [[], [0x31], [0x30, 0x00], [0x31, 0x02, 0x30, 0x00], [0x05, 0x00]] {
      #expect(verifier.refusal(of: try chain.signer.sign(content: content)) == "NOT_A_RECEIPT")
    }
    var wrong = ReceiptChain.content()
    wrong.add(18, "yesterday")
    #expect(try refusal(wrong) == "NOT_A_RECEIPT")
  }

  @Test("Size, depth and count limits reject a receipt before it is processed")
  func limits() throws {
    let oversized = [UInt8](repeating: 0x30, count: 50_000_000)
    #expect(verifier.refusal(of: oversized) == "DOCUMENT_TOO_LARGE")
    // SEQUENCEs in one another, of indefinite length.
    let deep = [[0x30, 0x80], [0, 0]].flatMap { [[UInt8]](repeating: $0, count: 10_000).flatMap(\.self) }
    #expect(verifier.refusal(of: deep) == "TOO_MANY")
    #expect(verifier.refusal(of: Array(deep[19_000..<21_000])) == "NOT_A_RECEIPT")
    #expect(verifier.refusal(of: try chain.signer.sign(content: deep)) == "NOT_A_RECEIPT")
    let wide = [0x30, 0x84, 0x00, 0x40, 0x00, 0x00] + [UInt8](repeating: 0x05, count: 1 << 22)
    #expect(verifier.refusal(of: wide) == "TOO_MANY")
    var crowded = ReceiptChain.content()
    for _ in 0..<100_000 { crowded.add(17, bytes: [0x31, 0x00]) }
    #expect(try refusal(crowded) == "TOO_MANY")
    var full = ReceiptChain.content()
    for _ in 0..<AppReceiptPayload.maximumPurchases { full.add(17, bytes: [0x31, 0x00]) }
    #expect(try refusal(full) == "TOO_MANY")
  }
}
