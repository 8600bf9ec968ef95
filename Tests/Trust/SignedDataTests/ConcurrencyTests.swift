import AppStore
import Bytes
import JSON
import TestSupport
import Testing

@testable import SignedData

@Suite struct ConcurrencyTests {
  @Test("One verifier gives correct results for valid and invalid documents on many threads")
  func manyThreads() async throws {
    let chain = try TestChain()
    let verifier = try chain.verifier()
    let documents = try (0..<8).map { number in
      var payload = TestChain.transaction()
      payload["transactionId"] = .string("\(number)")
      return try chain.signer.sign(payload: payload)
    }
    let foreign = try TestChain(name: "Stranger").signer.sign(payload: TestChain.transaction())
    await withTaskGroup(of: Bool.self) { group in
      for round in 0..<64 {
        group.addTask {
          if round % 8 == 7 { return verifier.refusal(of: foreign) == "UNTRUSTED_ROOT" }
          let verified = try? verifier.verifyTransaction(
            documents[round % 8], for: exampleApp, environments: [.sandbox])
          return verified?.payload.transactionId == "\(round % 8)"
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test("The chain cache evicts the oldest chain at its capacity")
  func cache() throws {
    let chain = try TestChain()
    let texts = [chain.leaf, chain.intermediate, chain.root].map {
      JSONValue.string(Base64.standard.encode($0.der))
    }
    let header: JSONObject = ["alg": "ES256", "x5c": .array(texts)]
    let anchors = try TrustAnchors.apple().adding(chain.root, for: .sandbox)
    let verified = try ChainVerifier(anchors: anchors).verify(JWSHeader(header.serialized()))
    let cache = ChainCache<VerifiedChain>(capacity: 2)
    for name in [[1], [2], [2], [3]] as [[UInt8]] { cache.insert(verified, for: name[...]) }
    #expect(cache.chain(for: [1]) == nil)
    #expect(cache.chain(for: [2])?.signer == verified.signer)
    #expect(cache.chain(for: [3]) != nil)
    #expect(cache.chain(for: [3, 3]) == nil)
  }
}
