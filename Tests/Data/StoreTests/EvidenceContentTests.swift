import Store
import Testing

@Suite struct EvidenceContentTests {
  @Test(
    "The hash is SHA-256, as the standard's examples have it",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ])
  func sha256(text: String, expected: String) {
    let hash = EvidenceContent(Array(text.utf8)).hash
    let digits = hash.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    #expect(digits.joined() == expected)
  }

  @Test("Of too many bytes only the hash and the number are kept")
  func tooLarge() {
    let content = EvidenceContent([1, 2, 3], keepingAtMost: 2)
    #expect(content.body == nil)
    #expect(content.size == 3)
    #expect(content.hash == EvidenceContent([1, 2, 3]).hash)
    #expect(EvidenceContent([1, 2, 3], keepingAtMost: 3).body == [1, 2, 3])
  }
}
