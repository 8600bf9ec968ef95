import AppStore
import JSON
import SignedData
import TestSupport
import Testing

@Suite("Trusted roots of one name") struct EqualRootNamesTests {
  private let chains = try! [TestChain(name: "Twin"), TestChain(name: "Twin"), TestChain(name: "Other")]

  private func transaction(_ chain: TestChain, _ environment: String = "Sandbox") throws -> String {
    try chain.signer.sign(payload: [
      "transactionId": "1", "originalTransactionId": "1", "bundleId": "com.example",
      "environment": .string(environment),
      "signedDate": .number(JSONNumber(TestChain.middle.millisecondsSince1970)),
    ])
  }

  private func refusal(_ document: String, _ anchors: TrustAnchors) throws -> String? {
    let verifier = try SignedDataVerifier(anchors: anchors)
    do throws(VerificationError) {
      _ = try verifier.verifyTransaction(
        document, for: AppIdentity(bundleID: "com.example", appAppleID: nil),
        environments: [.sandbox, .production])
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("Each of two roots with one name verifies its own signatures only, in either order")
  func both() throws {
    for order in [[0, 1], [1, 0], [0, 2, 1]] {
      var anchors = try TrustAnchors.apple()
      for index in order { anchors = anchors.adding(chains[index].root, for: .sandbox) }
      for chain in chains[...1] { #expect(try refusal(transaction(chain), anchors) == nil) }
      let stranger = try TestChain(name: "Twin")
      #expect(try refusal(transaction(stranger), anchors) == "UNTRUSTED_ROOT")
    }
  }

  @Test("Each is trusted for its own environment only")
  func environments() throws {
    let anchors = try TrustAnchors.apple()
      .adding(chains[0].root, for: .production).adding(chains[1].root, for: .sandbox)
    #expect(try refusal(transaction(chains[1]), anchors) == nil)
    #expect(try refusal(transaction(chains[0]), anchors) == "UNTRUSTED_ROOT")
  }
}
