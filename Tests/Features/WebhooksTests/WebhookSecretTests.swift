import SignedData
import Testing

@testable import Webhooks

@Suite struct WebhookSecretTests {
  @Test("The example of the Standard Webhooks specification is signed as it says")
  func specification() throws {
    let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let signature = secret.signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
      body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(
    "An invalid secret is rejected",
    arguments: [
      "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA",
      "whsec_!fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ])
  func refused(text: String) { #expect(WebhookSecret(text) == nil) }

  @Test("RFC 4231, test cases 1 and 6")
  func hmac() throws {
    let first = HMACSHA256.code(of: Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20))
    #expect(first.prefix(4) == [0xb0, 0x34, 0x4c, 0x61])
    let sixth = HMACSHA256.code(
      of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      key: [UInt8](repeating: 0xaa, count: 131))
    #expect(sixth.prefix(4) == [0x60, 0xe4, 0x31, 0x59])
    #expect(sixth.count == 32)
  }
}
