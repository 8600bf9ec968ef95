import AppStore
import JSON
import SignedData

/// A chain shaped like Apple's, or with one thing wrong, and documents signed with it.
struct TestChain {
  let root: Certificate
  let intermediate: Certificate
  let leaf: Certificate
  let leafKey: SigningKey

  static let start = Instant(rfc3339: "2025-01-01T00:00:00Z")!
  static let end = Instant(rfc3339: "2027-01-01T00:00:00Z")!
  static let middle = Instant(rfc3339: "2026-01-01T00:00:00Z")!

  init(
    name: String = "Test", markedIntermediate: Bool = true, markedLeaf: Bool = true,
    leafCurve: SigningKey.Curve = .p256
  ) throws {
    let rootKey = try SigningKey.generate(.p384)
    let intermediateKey = try SigningKey.generate(.p384)
    leafKey = try SigningKey.generate(leafCurve)
    let authority = try CertificateIssuer.root(
      DistinguishedName([("CN", "\(name) Root"), ("O", "Tests")]), key: rootKey,
      from: Self.start.advanced(byMilliseconds: -1_000_000), until: Self.end)
    let between = try authority.intermediate(
      DistinguishedName([("CN", "\(name) Intermediate")]), key: intermediateKey,
      from: Self.start.advanced(byMilliseconds: -1000), until: Self.end, marked: markedIntermediate)
    root = authority.certificate
    intermediate = between.certificate
    leaf = try between.leaf(
      DistinguishedName([("CN", "\(name) Leaf")]), key: leafKey, from: Self.start, until: Self.end,
      marked: markedLeaf)
  }

  var signer: JWSSigner { JWSSigner(key: leafKey, chain: [leaf, intermediate, root]) }

  func verifier(for environment: Environment = .sandbox) throws -> SignedDataVerifier {
    try SignedDataVerifier(anchors: try TrustAnchors.apple().adding(root, for: environment))
  }

  static func transaction(
    signed: Instant = middle, bundle: String = "com.example", environment: String = "Sandbox"
  ) -> JSONObject {
    [
      "transactionId": "1", "bundleId": .string(bundle), "environment": .string(environment),
      "signedDate": .number(JSONNumber(signed.millisecondsSince1970)),
    ]
  }
}

let exampleApp = AppIdentity(bundleID: "com.example", appAppleID: 1234)

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
