import AppStore
import Bytes
import Foundation
import JSON
import Testing

@testable import SignedData

/// The bytes that are signed for Apple. The texts are those that Apple's Python library
/// (app-store-server-library 3.1, `jws_signature_creator.py` and `promotional_offer.py`) makes of the same
/// arguments.
@Suite struct OfferSignerTests {
  let key = try! SigningKey.generate(.p256)
  let now = Instant(rfc3339: "2026-01-02T03:04:05.678Z")!
  var nonce: Nonce {
    var generator = FixedGenerator()
    return Nonce(using: &generator)
  }
  var signer: OfferSigner {
    get throws {
      OfferSigner(
        credentials: AppStoreCredentials(
          issuerID: "issuer", bundleID: "com.example", signer: try JWTSigner(key: key, keyID: "KEY1")))
    }
  }

  @Test("A legacy signature covers the seven parts joined by U+2063, account and nonce in lowercase")
  func legacy() throws {
    let signature = try signer.legacyPromotionalOffer(
      productID: "pro.Monthly", offerID: "Offer", account: "7E3FB20B-4CDB-47CC-936D-99D65F608138",
      nonce: nonce, timestamp: now)
    let text =
      "com.example\u{2063}KEY1\u{2063}pro.Monthly\u{2063}Offer\u{2063}"
      + "7e3fb20b-4cdb-47cc-936d-99d65f608138\u{2063}00112233-4455-4677-8899-aabbccddeeff\u{2063}1767323045678"
    let der = try #require(Base64.standard.decode(signature))
    let raw = try #require(ECDSASignature(der: der[...])).raw
    #expect(try isSigned(Array(text.utf8), raw))
    #expect(try !isSigned(Array((text + "0").utf8), raw))
  }

  @Test("A promotional offer names the transaction only if there is one", arguments: [nil, "1000"])
  func promotional(transactionID: String?) throws {
    let token = try signer.promotionalOffer(
      productID: "pro", offerID: "offer", transactionID: transactionID, nonce: nonce, issuedAt: now)
    var expected: JSONObject = ["productId": "pro", "offerIdentifier": "offer"]
    if let transactionID { expected["transactionId"] = .string(transactionID) }
    try expect(token, claims: expected, audience: "promotional-offer")
  }

  @Test("An introductory offer eligibility is signed with either value", arguments: [true, false])
  func introductory(isAllowed: Bool) throws {
    let token = try signer.introductoryOfferEligibility(
      productID: "pro", isAllowed: isAllowed, transactionID: "1000", nonce: nonce, issuedAt: now)
    try expect(
      token,
      claims: [
        "productId": "pro", "allowIntroductoryOffer": .bool(isAllowed), "transactionId": "1000",
      ], audience: "introductory-offer-eligibility")
  }

  @Test("An Advanced Commerce request is signed as Base64 of its JSON")
  func advancedCommerce() throws {
    let token = try signer.advancedCommerceRequest(
      ["operation": "CREATE_SUBSCRIPTION"], nonce: nonce, issuedAt: now)
    let request = Data(#"{"operation":"CREATE_SUBSCRIPTION"}"#.utf8).base64EncodedString()
    try expect(token, claims: ["request": .string(request)], audience: "advanced-commerce-api")
  }

  @Test("Nonces are unique lowercase UUIDs of version 4")
  func nonces() {
    let nonces = (0..<100).map { _ in Nonce.random().description }
    #expect(Set(nonces).count == 100)
    for nonce in nonces {
      #expect(UUID(uuidString: nonce)?.uuidString.lowercased() == nonce)
      #expect(Array(nonce)[14] == "4")
      #expect("89ab".contains(Array(nonce)[19]))
    }
  }

  @Test("A key on another curve than P-256 is rejected for tokens")
  func wrongCurve() throws {
    let key = try SigningKey.generate(.p384)
    #expect(throws: CryptographyError.self) { try JWTSigner(key: key, keyID: "KEY1") }
  }

  private func expect(_ token: String, claims: JSONObject, audience: String) throws {
    let jws = try CompactJWS(token)
    #expect(try JSONValue(parsing: jws.decodedHeader()).text == #"{"alg":"ES256","kid":"KEY1","typ":"JWT"}"#)
    var expected = claims
    expected["bid"] = "com.example"
    expected["iss"] = "issuer"
    expected["aud"] = .string(audience)
    expected["iat"] = 1_767_323_045
    expected["nonce"] = "00112233-4455-4677-8899-aabbccddeeff"
    #expect(try JSONValue(parsing: jws.decodedPayload()).text == JSONValue.object(expected).text)
    #expect(try isSigned(Array(jws.signingInput), jws.decodedSignature()))
  }

  private func isSigned(_ message: [UInt8], _ signature: [UInt8]) throws -> Bool {
    let publicKey = try #require(PublicKey(key.reference))
    return try publicKey.verifies(signature[...], of: message[...])
  }
}

/// The two halves of a UUID that is easy to recognise.
private struct FixedGenerator: RandomNumberGenerator {
  var numbers: [UInt64] = [0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF]
  mutating func next() -> UInt64 { numbers.removeFirst() }
}
