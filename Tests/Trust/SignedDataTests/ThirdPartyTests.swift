import AppStore
import Bytes
import JSON
import SignedData
import TestSupport
import Testing

/// Documents and chains that others made, Apple among them, and the verdict each must get.
@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct ThirdPartyTests {
  private func text(_ path: String) throws -> String {
    let text = String(decoding: try TestData.bytes(path), as: UTF8.self)
    return String(text.filter { !$0.isWhitespace })
  }

  private let genuine = "genuine/1684822778492_renewalinfo_8a548061.jws"

  private func renewalRefusal(_ jws: String, _ verifier: SignedDataVerifier, _ environments: Set<Environment>)
    -> String?
  {
    do {
      _ = try verifier.verifyRenewalInfo(jws, for: exampleApp, environments: environments)
      return nil
    } catch { return error.reason }
  }

  @Test("A renewal info signed by Apple is accepted under the pinned root")
  func appleSigned() throws {
    let verifier = try SignedDataVerifier(anchors: .apple())
    let verified = try verifier.verifyRenewalInfo(text(genuine), for: exampleApp, environments: [.sandbox])
    #expect(verified.payload.originalTransactionId == "2000000335310644")
    #expect(verified.signer?.anchor.contains("CN=Apple Root CA - G3") == true)
    #expect(renewalRefusal(try text(genuine), verifier, [.production]) == "WRONG_ENVIRONMENT")
  }

  @Test("A flipped bit of the payload is rejected, with and without a cached chain")
  func appleSignedFlipped() throws {
    let known = try SignedDataVerifier(anchors: .apple())
    _ = try known.verifyRenewalInfo(text(genuine), for: exampleApp, environments: [.sandbox])
    let segments = try text(genuine).split(separator: ".").map(String.init)
    let payload = Base64.url.decode(segments[1])!
    for bit in stride(from: 0, to: payload.count * 8, by: 31) {
      var changed = payload
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let middle = Base64.url.encode(changed)
      let jws = "\(segments[0]).\(middle).\(segments[2])"
      #expect(renewalRefusal(jws, known, [.sandbox]) == "BAD_SIGNATURE")
      #expect(renewalRefusal(jws, try SignedDataVerifier(anchors: .apple()), [.sandbox]) == "BAD_SIGNATURE")
    }
  }

  @Test("The mock data of Apple's server libraries is accepted under its test root only")
  func mock() throws {
    let root = try TestData.bytes("apple-asl/certs/testCA.der")
    let configured = try SignedDataVerifier(anchors: .apple().adding(Certificate(der: root), for: .sandbox))
    let apple = try SignedDataVerifier(anchors: .apple())
    let transaction = try text("apple-asl/mock_signed_data/transactionInfo")
    #expect(configured.refusal(of: transaction) == nil)
    #expect(apple.refusal(of: transaction) == "UNTRUSTED_ROOT")
    let other = AppIdentity(bundleID: "com.examplex", appAppleID: nil)
    #expect(configured.refusal(of: transaction, app: other) == "WRONG_BUNDLE")
    let renewal = try text("apple-asl/mock_signed_data/renewalInfo")
    #expect(renewalRefusal(renewal, configured, [.sandbox]) == nil)
    #expect(renewalRefusal(renewal, apple, [.sandbox]) == "UNTRUSTED_ROOT")
    let missing = try text("apple-asl/mock_signed_data/missingX5CHeaderClaim")
    #expect(configured.refusal(of: missing) == "WRONG_CERTIFICATE_COUNT")
    let legacy = try text("apple-asl/mock_signed_data/legacyTransaction")
    #expect(configured.refusal(of: legacy) == "NOT_A_JWS")
  }

  @Test("A validly signed notification is rejected as a transaction")
  func notificationAsTransaction() throws {
    let root = try TestData.bytes("apple-asl/certs/testCA.der")
    let verifier = try SignedDataVerifier(anchors: .apple().adding(Certificate(der: root), for: .sandbox))
    for name in ["testNotification", "wrongBundleId"] {
      #expect(verifier.refusal(of: try text("apple-asl/mock_signed_data/\(name)")) == "MISSING_FIELD")
    }
  }

  @Test("Xcode's data is rejected unless the app accepts it")
  func xcode() throws {
    let app = AppIdentity(bundleID: "com.example.naturelab.backyardbirds.example", appAppleID: nil)
    let verifier = try SignedDataVerifier(anchors: .apple())
    let transaction = try text("apple-asl/xcode/xcode-signed-transaction")
    #expect(verifier.refusal(of: transaction, app: app) == "XCODE_NOT_ALLOWED")
    #expect(verifier.refusal(of: transaction, environments: [.xcode]) == "WRONG_BUNDLE")
    let verified = try verifier.verifyTransaction(transaction, for: app, environments: [.xcode])
    #expect(verified.signer == nil)
    #expect(verified.payload.productId == "pass.premium")
    let renewal = try text("apple-asl/xcode/xcode-signed-renewal-info")
    #expect(renewalRefusal(renewal, verifier, [.sandbox, .production]) == "XCODE_NOT_ALLOWED")
    #expect(renewalRefusal(renewal, verifier, [.xcode]) == nil)
    let purchase = try text("apple-asl/xcode/xcode-signed-app-transaction")
    let accepted = try verifier.verifyAppTransaction(purchase, for: app, environments: [.xcode])
    #expect(accepted.payload.applicationVersion == "1")
  }

  @Test("Diagnosis decodes a document with any signer")
  func unverified() throws {
    let jws = try UnverifiedJWS(text("apple-asl/xcode/xcode-signed-transaction"))
    #expect(jws.header["kid"] == "Apple_Xcode_Key")
    #expect(jws.payload["environment"] == "Xcode")
  }
}
