import HTTP
import Testing

@Suite struct AuthorityTests {
  @Test(
    "An authority is a host and perhaps a port",
    arguments: [
      ("Example.com", "example.com"), ("a:80", "a"), ("a:", "a"), ("[::1]:80", "[::1]"),
      ("127.0.0.1", "127.0.0.1"),
      ("", ""), ("a_b%20c", "a_b%20c"),
    ])
  func valid(text: String, host: String) throws {
    let authority = try #require(Authority(text))
    #expect(authority.host == host && authority.text == text.lowercased())
  }

  @Test(
    "Anything else is no authority",
    arguments: [
      "a b", "a/b", "a@b", "a:b", "a:80:80", "[::1", "[]", "[x]", "[::1]x", "ä", "a\u{0}", "a?b", "a#b",
      "http://a",
    ])
  func invalid(text: String) { #expect(Authority(text) == nil) }
}
