import AppStore
import Bytes
import JSON
import TestSupport
import Testing

@testable import SignedData

/// Certificate chains without documents: what was measured on Apple's and on broken ones.
@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct ChainCaseTests {
  private func certificate(_ name: String) throws -> Certificate {
    try Certificate(der: TestData.bytes("apple-asl/x509_constants/\(name).der"))
  }

  @Test("The pinned names and keys match Apple's certificates")
  func pins() throws {
    let names = ["AppleIncRootCertificate", "AppleRootCA-G2", "AppleRootCA-G3"]
    let anchors = try TrustAnchors.apple().apple
    #expect(anchors.count == names.count)
    for (position, name) in names.enumerated() {
      let published = try Certificate(der: TestData.bytes("apple-roots/\(name).cer"))
      let key = try #require(Base64.standard.decode(AppleRoots.all[position].key))
      #expect(published.der.firstRange(of: key) != nil)
      #expect(anchors[position].certificate.der.firstRange(of: key) != nil)
      #expect(anchors[position].certificate.subject == published.subject)
    }
  }

  @Test("Every chain of the test data gets the expected result")
  func chains() throws {
    let cases = try #require(JSONValue(parsing: TestData.bytes("x509_chain_cases.json")).arrayValue)
    #expect(cases.count == 12)
    for item in cases { try check(#require(item.objectValue)) }
  }

  /// The reasons behind the measured verdicts, in our words.
  private let reasons: [String: String?] = [
    "valid test chain, strict off": nil,
    "valid test chain, strict ON": "UNTRUSTED_ROOT",
    "intermediate missing Apple OID": "MISSING_MARKER_OID",
    "leaf missing Apple OID": "MISSING_MARKER_OID",
    "chain length 2": "WRONG_CERTIFICATE_COUNT",
    "pinned root is real Apple": "UNTRUSTED_ROOT",
    "effective date after expiry": "CHAIN_EXPIRED_AT_SIGNING",
    "real Apple chain @T": nil,
    "real Apple chain @ before leaf": "CHAIN_EXPIRED_AT_SIGNING",
    "leaf sent as whole chain x3": "MISSING_MARKER_OID",
    "real leaf + wrong intermediate": "UNTRUSTED_ROOT",
    "x5c[2] is test root, pinned Apple (x5c root must be ignored)": nil,
  ]

  private func check(_ item: JSONObject) throws {
    let name = try #require(item["case"]?.stringValue)
    let expected = try #require(reasons[name], "\(name) has no known reason")
    #expect((item["verdict"] == "OK") == (expected == nil))
    let chain = try #require(item["x5c"]?.arrayValue).map { try certificate(#require($0.stringValue)) }
    let seconds = try #require(item["effective"]?.int64Value)
    let pinned = try #require(item["pinned"]?.stringValue)
    let isStrict = try #require(item["strict"]?.boolValue as Bool?)
    var reason: String?
    do throws(VerificationError) {
      let header = try header(of: chain)
      let validity = try pinned == "real_apple_root" ? applePath(header) : path(header, pinned, isStrict)
      let signed = Instant(millisecondsSince1970: seconds * 1000)
      if !validity.contains(signed) { throw .chainExpiredAtSigning(signed: signed, validity: validity) }
    } catch { reason = error.reason }
    #expect(reason == expected, "\(name)")
  }

  private func header(of chain: [Certificate]) throws(VerificationError) -> JWSHeader {
    let texts = chain.map { Base64.standard.encode($0.der) }
    let json: JSONObject = ["alg": "ES256", "x5c": .array(texts.map { .string($0) })]
    return try JWSHeader(json.serialized())
  }

  /// Under Apple's pinned roots, where strictness is always on.
  private func applePath(_ header: JWSHeader) throws(VerificationError) -> ClosedRange<Instant> {
    do { return try ChainVerifier(anchors: .apple()).verify(header).signer.validity } catch {
      throw error as? VerificationError ?? .untrustedRoot("\(error)")
    }
  }

  private func path(_ header: JWSHeader, _ pinned: String, _ strict: Bool) throws(VerificationError)
    -> ClosedRange<Instant>
  {
    let found: CertificateStore.Path
    do {
      let store = try CertificateStore(roots: [certificate(pinned)], strict: strict)
      found = try store.path(leaf: header.leaf, intermediate: header.intermediate)
    } catch { throw .untrustedRoot("\(error)") }
    guard case .found = found else { throw .untrustedRoot("\(found)") }
    return max(header.leaf.notBefore, header.intermediate.notBefore)...header.leaf.notAfter
  }
}
