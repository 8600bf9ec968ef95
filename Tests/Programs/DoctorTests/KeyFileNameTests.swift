import Doctor
import Testing

@Suite struct KeyFileNameTests {
  @Test(
    "The name of a key's file that contradicts the configuration is reported",
    arguments: [
      ("/etc/entitled/AuthKey_ABCDE12345.p8", "App Store Connect's API"),
      ("keys/SubscriptionKey_ZZZZZ12345.p8", "has the key id ZZZZZ12345, and key_id is ABCDE12345"),
    ])
  func contradiction(path: String, problem: String) throws {
    #expect(try #require(KeyFileName.contradiction(path: path, keyID: "ABCDE12345")).contains(problem))
  }

  @Test(
    "A name that fits, or one of the operator's, is no contradiction",
    arguments: ["/etc/SubscriptionKey_ABCDE12345.p8", "iap.p8", "SubscriptionKey_ZZZZZ12345.pem", ""])
  func fits(path: String) {
    #expect(KeyFileName.contradiction(path: path, keyID: "ABCDE12345") == nil)
  }
}
