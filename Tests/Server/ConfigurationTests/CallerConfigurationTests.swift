import Callers
import Configuration
import Foundation
import Testing

@Suite struct CallerConfigurationTests {
  private static let hash = "sha256:" + String(repeating: "0a", count: 32)
  private static let other = "sha256:" + String(repeating: "0b", count: 32)

  private static let file = """
    apps:
      sea:
        bundle_id: com.example.sea
        environments: [Sandbox]
        products: {}
    callers:
      billing: {roles: [read, submit], tokens: ["\(hash)"], apps: [sea], rate_limit: {per_second: 5}}
      support: {roles: [admin], subjects: [jo], certificate_names: ["spiffe://x/support"]}
    token_issuer: {issuer: i, audience: a, keys: {url: "https://id.example.com/jwks.json"}}
    """

  @Test("A caller has credentials, roles, apps and a rate limit")
  func read() throws {
    let configuration = try ServiceConfiguration(yaml: Self.file, file: "entitled.yaml")
    let billing = CallerDefinition(
      name: "billing", roles: [.read, .submit], apps: ["sea"], rateLimit: RateLimit(perSecond: 5, burst: 5),
      tokens: [try #require(TokenHash(Self.hash))])
    let support = CallerDefinition(
      name: "support", roles: [.admin], subjects: ["jo"], certificateNames: ["spiffe://x/support"])
    #expect(configuration.callers == .listed([billing, support]))
    #expect(configuration.tokenIssuer?.keys == .url("https://id.example.com/jwks.json"))
  }

  @Test("callers is open, unspecified or a list")
  func open() throws {
    let apps = Self.file.components(separatedBy: "callers:")[0]
    #expect(try ServiceConfiguration(yaml: apps, file: "f").callers == .unspecified)
    #expect(try ServiceConfiguration(yaml: apps + "callers: open", file: "f").callers == .open)
    #expect(throws: ConfigurationError.self) {
      try ServiceConfiguration(yaml: apps + "callers: closed", file: "f")
    }
  }

  @Test(
    "An invalid list of callers is rejected with line and problem",
    arguments: [
      (7, "roles: [read, submit]", "roles: [reed]", "unknown role 'reed'; known: read, submit"),
      (7, "roles: [read, submit]", "roles: []", "caller billing has no roles"),
      (7, "apps: [sea]", "apps: [see]", "unknown app 'see'; known: sea"),
      (7, hash, "0a0a", "not sha256: and 64 hexadecimal digits"),
      (7, "tokens: [\"\(hash)\"], ", "", "caller billing has no tokens, subjects or certificate_names"),
      (7, "per_second: 5", "per_second: 0", "is not between 1 and 1000000"),
      (7, "rate_limit", "rate", "caller billing: unknown key 'rate'; known: roles, apps, tokens"),
      (8, "subjects: [jo]", "tokens: [\"\(hash)\"]", "of caller support is also used by another caller"),
      (9, "url: \"https:", "url: \"http:", "does not start with https://"),
      (9, "{url: ", "{file: a, url: ", "requires either file or url"),
      (7, "billing", "console", "the caller name 'console' is reserved"),
      (7, "billing", "a/b", "'a/b' is not 1 to 64 letters, digits, '-', '_' and '.'"),
      (7, "billing", "'subject:bob'", "'subject:bob' is not 1 to 64 letters"),
      (8, "token_issuer", "# token_issuer", "subjects of caller support requires a token_issuer"),
    ])
  func wrong(line: Int, old: String, new: String, problem: String) {
    let yaml = Self.file.replacingOccurrences(of: old, with: new)
    #expect {
      _ = try ServiceConfiguration(yaml: yaml, file: "entitled.yaml")
    } throws: { error in
      "\(error)".hasPrefix("entitled.yaml:\(line): ") && "\(error)".contains(problem)
    }
  }
}
