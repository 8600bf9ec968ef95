import AppStore
import Bytes
import JSON
import SignedData
import TestSupport
import Testing

/// The documents that the verifier must refuse, and the reason of each refusal.
@Suite struct RefusalTests {
  let chain: TestChain
  let verifier: SignedDataVerifier

  init() throws {
    chain = try TestChain()
    verifier = try chain.verifier()
  }

  /// A document with a header of the test's own making, under the chain's real signature.
  private func document(header: JSONObject, payload: JSONObject = TestChain.transaction()) throws -> String {
    let input = segment(header.serialized()) + "." + segment(payload.serialized())
    return input + "." + segment(try chain.leafKey.sign(Array(input.utf8)[...]))
  }

  private func segment(_ bytes: [UInt8]) -> String {
    Base64.url.encode(bytes)
  }

  private func x5c(_ certificates: [Certificate]) -> JSONValue {
    .array(certificates.map { .string(Base64.standard.encode($0.der)) })
  }

  @Test("A document under a configured root is accepted and names its signer")
  func accepted() throws {
    let jws = try chain.signer.sign(payload: TestChain.transaction())
    for _ in 0..<3 {
      let verified = try verifier.verifyTransaction(jws, for: exampleApp, environments: [.sandbox])
      #expect(verified.payload.transactionId == "1")
      #expect(verified.signer?.subject == "/CN=Test Leaf")
      #expect(verified.signer?.anchor == "/CN=Test Root/O=Tests")
      #expect(verified.signer?.validity.lowerBound == TestChain.start)
    }
  }

  @Test(
    "A text without three base64url segments is rejected",
    arguments: ["", ".", "..", "a.b", "a.b.c.d", "e30.e30.", "e30=.e30.AA", "e30 .e30.AA", "W10.e30.AA"])
  func notAJWS(text: String) {
    #expect(
      ["NOT_A_JWS", "UNSUPPORTED_ALGORITHM"].contains(verifier.refusal(of: text)), "\(text.debugDescription)")
  }

  @Test("A header or a payload with very many values is rejected before they take memory")
  func manyValues() throws {
    let certificates = x5c([chain.leaf, chain.intermediate, chain.root])
    let header: JSONObject = ["alg": "ES256", "x5c": certificates]
    var wide = header
    wide["a"] = .array(Array(repeating: 0, count: 1_000))
    #expect(verifier.refusal(of: try document(header: wide)) == "NOT_A_JWS")
    var payload = TestChain.transaction()
    payload["a"] = .array(Array(repeating: 0, count: 100_000))
    #expect(verifier.refusal(of: try document(header: header, payload: payload)) == "MALFORMED_JSON")
  }

  @Test(
    "Every algorithm except ES256 is rejected, including none",
    arguments: ["none", "HS256", "RS256", "es256", "ES384"])
  func algorithm(name: String) throws {
    let certificates = x5c([chain.leaf, chain.intermediate, chain.root])
    let jws = try document(header: ["alg": .string(name), "x5c": certificates])
    #expect(verifier.refusal(of: jws) == "UNSUPPORTED_ALGORITHM")
    let unnamed = try document(header: ["x5c": certificates])
    #expect(verifier.refusal(of: unnamed) == "UNSUPPORTED_ALGORITHM")
  }

  @Test("A header with critical extensions is rejected")
  func critical() throws {
    let certificates = x5c([chain.leaf, chain.intermediate, chain.root])
    let jws = try document(header: ["alg": "ES256", "crit": ["b64"], "b64": false, "x5c": certificates])
    #expect(verifier.refusal(of: jws) == "NOT_A_JWS")
  }

  @Test("A header without exactly three certificates is rejected")
  func count() throws {
    let four = [chain.leaf, chain.intermediate, chain.root, chain.root]
    for certificates in [[], Array(four.prefix(1)), Array(four.prefix(2)), four] {
      let jws = try document(header: ["alg": "ES256", "x5c": x5c(certificates)])
      #expect(verifier.refusal(of: jws) == "WRONG_CERTIFICATE_COUNT")
    }
    #expect(verifier.refusal(of: try document(header: ["alg": "ES256"])) == "WRONG_CERTIFICATE_COUNT")
  }

  @Test("All three certificates must be well formed, including the unused root")
  func malformed() throws {
    let good = x5c([chain.leaf, chain.intermediate, chain.root]).arrayValue!
    for position in 0..<3 {
      for bad: JSONValue in ["AAAA", "?", 5, .string(good[position].stringValue! + "\n")] {
        var certificates = good
        certificates[position] = bad
        let jws = try document(header: ["alg": "ES256", "x5c": .array(certificates)])
        #expect(verifier.refusal(of: jws) == "MALFORMED_CERTIFICATE")
      }
    }
  }

  @Test("The root inside a message is neither trusted nor required")
  func rootIsIgnored() throws {
    let stranger = try TestChain(name: "Stranger")
    let jws = try document(header: [
      "alg": "ES256", "x5c": x5c([chain.leaf, chain.intermediate, stranger.root]),
    ])
    #expect(verifier.refusal(of: jws) == nil)
    let foreign = try stranger.signer.sign(payload: TestChain.transaction())
    #expect(verifier.refusal(of: foreign) == "UNTRUSTED_ROOT")
  }

  @Test("A root with a trusted name but another key is not trusted")
  func sameName() throws {
    let impostor = try TestChain()
    #expect(
      verifier.refusal(of: try impostor.signer.sign(payload: TestChain.transaction())) == "UNTRUSTED_ROOT")
  }

  @Test("A chain without both of Apple's marker OIDs is rejected")
  func markers() throws {
    for (intermediate, leaf) in [(false, true), (true, false), (false, false)] {
      let unmarked = try TestChain(markedIntermediate: intermediate, markedLeaf: leaf)
      let jws = try unmarked.signer.sign(payload: TestChain.transaction())
      #expect(try unmarked.verifier().refusal(of: jws) == "MISSING_MARKER_OID")
    }
  }

  @Test("A leaf issued by the root itself is rejected, even beside a marked intermediate")
  func shortPath() throws {
    let rootKey = try SigningKey.generate(.p384)
    let root = try CertificateIssuer.root(
      DistinguishedName([("CN", "Short Root")]), key: rootKey, from: TestChain.start, until: TestChain.end)
    let leaf = try root.leaf(
      DistinguishedName([("CN", "Leaf")]), key: chain.leafKey, from: TestChain.start, until: TestChain.end)
    let verifier = try SignedDataVerifier(
      anchors: try TrustAnchors.apple().adding(root.certificate, for: .sandbox))
    let jws = try document(
      header: ["alg": "ES256", "x5c": x5c([leaf, chain.intermediate, root.certificate])])
    #expect(verifier.refusal(of: jws) == "UNTRUSTED_ROOT")
  }

  @Test("A leaf key that ES256 cannot use is rejected")
  func unsupportedKey() throws {
    let p384 = try TestChain(leafKey: .generate(.p384))
    let jws = try document(
      header: ["alg": "ES256", "x5c": x5c([p384.leaf, p384.intermediate, p384.root])])
    #expect(try p384.verifier().refusal(of: jws) == "UNSUPPORTED_KEY")
  }

  @Test("A flipped bit in payload or signature is rejected")
  func flippedBits() throws {
    let jws = try chain.signer.sign(payload: TestChain.transaction())
    #expect(verifier.refusal(of: jws) == nil)
    let segments = jws.split(separator: ".").map { Base64.url.decode($0)! }
    for part in [1, 2] {
      for bit in stride(from: 0, to: segments[part].count * 8, by: 7) {
        var changed = segments
        changed[part][bit / 8] ^= 1 << UInt8(bit % 8)
        let text = changed.map(segment).joined(separator: ".")
        #expect(["BAD_SIGNATURE", "XCODE_NOT_ALLOWED"].contains(verifier.refusal(of: text)))
      }
    }
  }

  @Test("A signature of another size or another document is rejected")
  func signature() throws {
    let jws = try chain.signer.sign(payload: TestChain.transaction())
    let other = try chain.signer.sign(payload: TestChain.transaction(bundle: "com.other"))
    let parts = jws.split(separator: ".").map(String.init)
    let swapped = [parts[0], parts[1], String(other.split(separator: ".")[2])].joined(separator: ".")
    #expect(verifier.refusal(of: swapped) == "BAD_SIGNATURE")
    for length in [0, 1, 63, 65, 72] {
      let bytes = [UInt8](repeating: 1, count: length)
      let text = "\(parts[0]).\(parts[1]).\(segment(bytes))"
      #expect(verifier.refusal(of: text) == "BAD_SIGNATURE")
    }
    let zeros = "\(parts[0]).\(parts[1]).\(segment([UInt8](repeating: 0, count: 64)))"
    #expect(verifier.refusal(of: zeros) == "BAD_SIGNATURE")
  }

  @Test("Certificates must be valid at the time of signing, to the second")
  func dates() throws {
    let cases: [(Instant, String?)] = [
      (TestChain.start, nil), (TestChain.start.advanced(byMilliseconds: -1), "CHAIN_EXPIRED_AT_SIGNING"),
      (TestChain.end.advanced(byMilliseconds: 999), nil),
      (TestChain.end.advanced(byMilliseconds: 1000), "CHAIN_EXPIRED_AT_SIGNING"),
    ]
    for (signed, expected) in cases {
      let jws = try chain.signer.sign(payload: TestChain.transaction(signed: signed))
      #expect(verifier.refusal(of: jws) == expected)
    }
  }

  @Test(
    "A payload without a required member is rejected", arguments: ["signedDate", "environment", "bundleId"])
  func missing(member: String) throws {
    var payload = TestChain.transaction()
    payload[member] = nil
    #expect(verifier.refusal(of: try chain.signer.sign(payload: payload)) == "MISSING_FIELD")
  }

  @Test("A document for another app or environment is rejected")
  func misaddressed() throws {
    let bundle = try chain.signer.sign(payload: TestChain.transaction(bundle: "com.example.other"))
    #expect(verifier.refusal(of: bundle) == "WRONG_BUNDLE")
    let sandbox = try chain.signer.sign(payload: TestChain.transaction())
    #expect(verifier.refusal(of: sandbox, environments: [.production]) == "WRONG_ENVIRONMENT")
    let nowhere = try chain.signer.sign(payload: TestChain.transaction(environment: "Moon"))
    #expect(verifier.refusal(of: nowhere) == "WRONG_ENVIRONMENT")
  }

  @Test("A root configured for one environment is not trusted for others")
  func rootPerEnvironment() throws {
    let production = try chain.signer.sign(payload: TestChain.transaction(environment: "Production"))
    #expect(verifier.refusal(of: production, environments: [.production, .sandbox]) == "UNTRUSTED_ROOT")
    #expect(try chain.verifier(for: .production).refusal(of: production, environments: [.production]) == nil)
  }

  @Test("The App Store id is checked in Production")
  func appNumber() throws {
    let verifier = try chain.verifier(for: .production)
    let cases: [(JSONValue?, String?)] = [(1234, nil), (999, "WRONG_APP"), (nil, "MISSING_FIELD")]
    for (number, expected) in cases {
      var payload: JSONObject = [
        "receiptType": "Production", "bundleId": "com.example",
        "receiptCreationDate": .number(JSONNumber(TestChain.middle.millisecondsSince1970)),
      ]
      payload["appAppleId"] = number
      let jws = try chain.signer.sign(payload: payload)
      var reason: String?
      do throws(VerificationError) {
        _ = try verifier.verifyAppTransaction(jws, for: exampleApp, environments: [.production])
      } catch { reason = error.reason }
      #expect(reason == expected)
    }
  }

  @Test("A signed payload that is not JSON or malformed is rejected")
  func payload() throws {
    let parts = try chain.signer.sign(payload: TestChain.transaction()).split(separator: ".")
    for (text, expected) in [
      ("{", "MALFORMED_JSON"), ("[]", "MALFORMED_JSON"), (#"{"price":"1"}"#, "MALFORMED_FIELD"),
    ] {
      let input = "\(parts[0]).\(segment(Array(text.utf8)))"
      let jws = input + "." + segment(try chain.leafKey.sign(Array(input.utf8)[...]))
      #expect(verifier.refusal(of: jws) == expected)
    }
  }

  @Test("A document of another kind is rejected, also as a renewal info, which names no app")
  func otherKinds() throws {
    let signed = JSONValue.number(JSONNumber(TestChain.middle.millisecondsSince1970))
    let request: JSONObject = [
      "originalTransactionId": "1", "productId": "monthly", "requestIdentifier": "1",
      "environment": "Sandbox",
      "signedDate": signed,
    ]
    var localized = request
    localized["userLocale"] = "en-US"
    let documents: [(String, JSONObject)] = [
      ("transaction", TestChain.transaction()), ("transaction", TestChain.transaction(bundle: "com.other")),
      (
        "renewalInfo",
        [
          "originalTransactionId": "1", "autoRenewStatus": 1, "environment": "Sandbox", "signedDate": signed,
        ]
      ),
      (
        "appTransaction",
        ["bundleId": "com.example", "receiptType": "Sandbox", "receiptCreationDate": signed]
      ),
      (
        "notification",
        [
          "notificationType": "TEST", "signedDate": signed,
          "data": ["bundleId": "com.example", "environment": "Sandbox"],
        ]
      ),
      ("request", request), ("request", localized),
    ]
    for (kind, payload) in documents {
      let jws = try chain.signer.sign(payload: payload)
      let refusals: [(String, String?)] = [
        ("transaction", refusal(of: jws, as: JWSTransactionDecodedPayload.self)),
        ("renewalInfo", refusal(of: jws, as: JWSRenewalInfoDecodedPayload.self)),
        ("appTransaction", refusal(of: jws, as: AppTransactionPayload.self)),
        ("notification", refusal(of: jws, as: ResponseBodyV2DecodedPayload.self)),
      ]
      for (expected, reason) in refusals where kind != expected {
        #expect(reason == "MISSING_FIELD", "a \(kind) as a \(expected)")
      }
    }
  }

  private func refusal<Payload: SignedPayload>(of jws: String, as _: Payload.Type) -> String? {
    do throws(VerificationError) {
      let _: Verified<Payload> = try verifier.verify(jws, for: exampleApp, environments: [.sandbox])
      return nil
    } catch { return error.reason }
  }

  @Test("A document above the size limit is rejected")
  func oversized() {
    #expect(verifier.refusal(of: String(repeating: "a", count: 1 << 20 + 1)) == "DOCUMENT_TOO_LARGE")
  }
}

extension SignedDataVerifier {
  /// The code for why a transaction is refused, or `nil` if it is not.
  func refusal(
    of jws: String, app: AppIdentity = exampleApp, environments: Set<Environment> = [.sandbox]
  ) -> String? {
    do {
      _ = try verifyTransaction(jws, for: app, environments: environments)
      return nil
    } catch { return error.reason }
  }
}
