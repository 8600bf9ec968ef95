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

  @Test("Callers are read with their credentials, roles, apps and rates")
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

  @Test("Whether everybody is let in is said, or not said")
  func open() throws {
    let apps = Self.file.components(separatedBy: "callers:")[0]
    #expect(try ServiceConfiguration(yaml: apps, file: "f").callers == .unspecified)
    #expect(try ServiceConfiguration(yaml: apps + "callers: open", file: "f").callers == .open)
    #expect(throws: ConfigurationError.self) {
      try ServiceConfiguration(yaml: apps + "callers: closed", file: "f")
    }
  }

  @Test(
    "A list with a mistake is refused with the line and what is wrong",
    arguments: [
      (7, "roles: [read, submit]", "roles: [reed]", "there is no role \"reed\"; known: read, submit"),
      (7, "roles: [read, submit]", "roles: []", "caller billing has no roles"),
      (7, "apps: [sea]", "apps: [see]", "there is no app \"see\"; known: sea"),
      (7, hash, "0a0a", "not sha256: and 64 hexadecimal digits"),
      (7, "tokens: [\"\(hash)\"], ", "", "caller billing has no tokens, subjects or certificate_names"),
      (7, "per_second: 5", "per_second: 0", "is not between 1 and 1000000"),
      (7, "rate_limit", "rate", "caller billing has no \"rate\"; known: roles, apps, tokens"),
      (8, "subjects: [jo]", "tokens: [\"\(hash)\"]", "of caller support is another caller's too"),
      (9, "url: \"https:", "url: \"http:", "does not begin with https://"),
      (9, "{url: ", "{file: a, url: ", "needs either file or url"),
      (8, "token_issuer", "# token_issuer", "subjects of caller support is given, and no token_issuer"),
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
