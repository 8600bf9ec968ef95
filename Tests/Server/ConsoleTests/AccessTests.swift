import AppStore
import Callers
import HTTP
import JSON
import Markup
import SignedData
import Testing

@testable import Console

private let now = Instant(millisecondsSince1970: 1_800_000_000_000)
private func later(_ minutes: Int64) -> Instant { now.advanced(byMilliseconds: minutes * 60_000) }

@Suite struct OneTimeLinksTests {
  private let links = OneTimeLinks(key: [1, 2, 3], start: now)

  @Test("A code signs in once")
  func once() {
    let code = links.makeCode(at: now)
    #expect(links.use(code, at: later(1)))
    #expect(!links.use(code, at: later(1)))
  }

  @Test(
    "The expiry of a code has one form, so that a used code is not another one", arguments: ["0", "00", "+"])
  func otherDigits(prefix: String) {
    let code = links.makeCode(at: now)
    #expect(!links.use(prefix + code, at: later(1)))
    #expect(links.use(code, at: later(1)))
    #expect(!links.use(prefix + code, at: later(1)))
  }

  @Test("A code expires after 15 minutes")
  func expiry() { #expect(!links.use(links.makeCode(at: now), at: later(15))) }

  @Test("A code from before the start is rejected, because it may be used")
  func restart() {
    let code = links.makeCode(at: now)
    #expect(!OneTimeLinks(key: [1, 2, 3], start: now.advanced(byMilliseconds: 1)).use(code, at: later(1)))
    #expect(OneTimeLinks(key: [1, 2, 3], start: now).use(code, at: later(1)))
  }

  @Test("A code of another key, with another expiry, or of another form is rejected")
  func forged() {
    let code = links.makeCode(at: now)
    let parts = code.split(separator: ".").map(String.init)
    #expect(!OneTimeLinks(key: [9], start: now).use(code, at: now))
    #expect(!links.use("\(Int64.max).\(parts[1]).\(parts[2])", at: now))
    #expect(
      !links.use("\(parts[0]).\(parts[1])", at: now) && !links.use("", at: now) && !links.use("..", at: now))
    #expect(links.use(code, at: now), "a rejected attempt must not use it up")
  }
}

@Suite struct SessionCookiesTests {
  private let cookies = SessionCookies(isSecure: false)

  private func value(_ header: String) -> String { String(header.prefix { $0 != ";" }) }

  @Test("A cookie names its person until it expires")
  func name() {
    let cookie = value(cookies.issue(to: "Lena é; x=1", at: now))
    #expect(cookies.name(in: "other=1; \(cookie)", at: later(11 * 60)) == "Lena é; x=1")
    #expect(cookies.name(in: cookie, at: later(12 * 60)) == nil)
  }

  @Test("A cookie of another process, or one that was changed, is rejected")
  func forged() {
    let cookie = value(cookies.issue(to: "lena", at: now))
    #expect(SessionCookies(isSecure: false).name(in: cookie, at: now) == nil)
    #expect(cookies.name(in: cookie + "0", at: now) == nil)
    #expect(cookies.name(in: nil, at: now) == nil && cookies.name(in: "entitled-console=", at: now) == nil)
  }

  @Test("A cookie is for this host and for requests from this site, and hidden from scripts")
  func attributes() {
    #expect(cookies.issue(to: "lena", at: now).hasSuffix("; HttpOnly; SameSite=Strict"))
    let secure = SessionCookies(isSecure: true).issue(to: "lena", at: now)
    #expect(secure.hasPrefix("__Host-") && secure.hasSuffix("; Secure") && secure.contains("Path=/;"))
  }

  @Test(
    "A name has no control characters and at most 64 bytes",
    arguments: [("  lena  b ", "lena b"), ("a\r\nb", "ab"), ("", nil), (" ", nil)] as [(String, String?)])
  func names(text: String, name: String?) { #expect(SessionCookies.name(text) == name) }
}

@Suite struct FormTokensTests {
  private let tokens = FormTokens()
  private let lena = Person(name: "lena", caller: Caller(name: "support", roles: [.read], apps: nil))
  private let ben = Person(name: "ben", caller: Caller(name: "support", roles: [.read], apps: nil))

  @Test("A token is for one person, for what it was made for, and for ten minutes")
  func binding() {
    let token = tokens.token(for: lena, ["grant", "ada", "5"], at: now)
    #expect(tokens.accepts(token, for: lena, ["grant", "ada", "5"], at: later(9)))
    #expect(!tokens.accepts(token, for: lena, ["grant", "ada", "5"], at: later(10)))
    #expect(!tokens.accepts(token, for: ben, ["grant", "ada", "5"], at: now))
    #expect(!tokens.accepts(token, for: lena, ["grant", "ada", "6"], at: now))
    #expect(!tokens.accepts(token, for: lena, ["grant", "ad", "a5"], at: now))
    #expect(!tokens.accepts("0\(token)", for: lena, ["grant", "ada", "5"], at: now))
    #expect(!FormTokens().accepts(token, for: lena, ["grant", "ada", "5"], at: now))
    #expect(!tokens.accepts(nil, for: lena, [], at: now) && !tokens.accepts("1.", for: lena, [], at: now))
  }
}

@Suite struct IdentityHeaderTests {
  private let signer: JWTSigner
  private let policy: CallerPolicy
  private let field = "x-proxy-jwt"

  init() throws {
    signer = try JWTSigner(key: .generate(.p256), keyID: "one")
    let keys = try JSONWebKeySet(
      parsing: JSONObject(dictionaryLiteral: ("keys", .array([.object(try signer.publicJWK())]))).serialized()
    )
    let issuer = TokenIssuer(
      TokenIssuer.Terms(
        issuer: "https://proxy.example.com", audience: "console", rolesClaim: "groups", subjectClaim: "email"),
      keys: keys)
    policy = .listed(
      CallerDirectory(
        [CallerDefinition(name: "support", roles: [.read, .operate], subjects: ["lena@example.com"])],
        issuer: issuer))
  }

  private func token(_ email: String, groups: JSONValue = []) throws -> String {
    try signer.sign([
      "iss": "https://proxy.example.com", "aud": "console", "email": .string(email), "groups": groups,
      "exp": .number(JSONNumber(1_800_000_060)),
    ])
  }

  private func person(_ fields: [(String, String)]) throws(CallerError) -> Person {
    try Person(header: HeaderFields(fields.map { (name: $0.0, value: $0.1) }), field, policy, at: { now })
  }

  @Test("A configured subject has the roles of its caller, under the subject's name")
  func configured() throws {
    let person = try person([(field, try token("lena@example.com"))])
    #expect(person.name == "lena@example.com" && person.caller.name == "support")
    #expect(person.caller.roles == [.read, .operate, .reports])
  }

  @Test("Another subject has the roles of the token, or none")
  func claimed() throws {
    #expect(try person([(field, try token("ben@example.com", groups: ["read"]))]).caller.has(.read))
    let stranger = try token("eve@example.com")
    #expect(throws: CallerError.unknownSubject("eve@example.com", rolesClaim: "groups")) {
      try person([(field, stranger)])
    }
  }

  @Test("Only the configured field counts, and only one of them")
  func fields() throws {
    let token = try token("lena@example.com")
    #expect(throws: CallerError.noCredential) { try person([("x-other", token)]) }
    #expect(throws: CallerError.noCredential) { try person([("authorization", "Bearer \(token)")]) }
    #expect(throws: CallerError.noCredential) { try person([(field, token), (field, token)]) }
    #expect(throws: CallerError.self) { try person([(field, token + "x")]) }
    #expect(throws: CallerError.self) { try person([(field, "lena@example.com")]) }
  }

  @Test(
    "After many invalid tokens of an address, tokens that were valid before are accepted, and others are not verified"
  )
  func limited() throws {
    let tokens = ProxyTokens(invalid: AddressLimiter(perSecond: 1, burstSeconds: 3, ticks: { 0 }))
    func read(_ token: String, from address: String = "192.0.2.1") throws(CallerError) -> Person {
      var request = HTTPRequest(method: "GET", target: "/", headers: HeaderFields([(field, token)]))
      request.address = address
      return try tokens.person(of: request, field, policy, at: { now })
    }
    let (lena, ben) = (try token("lena@example.com"), try token("ben@example.com", groups: ["read"]))
    _ = try read(lena)
    for number in 0..<3 {
      let error = #expect(throws: CallerError.self) { try read("\(ben)\(number)") }
      #expect(error?.description.hasPrefix("invalid bearer token") == true)
    }
    for token in [ben, "\(ben)4"] {
      #expect(throws: CallerError.tooManyBadTokens(retryAfterMilliseconds: 1_001)) { try read(token) }
    }
    #expect(try read(lena).caller.name == "support")
    #expect(try read(ben, from: "192.0.2.2").caller.has(.read))
  }
}

@Suite struct PerformedFormsTests {
  private let performed = PerformedForms()

  private func link(_ decision: PerformedForms.Decision) -> Link?? {
    if case .done(let link) = decision { link } else { nil }
  }

  @Test("A form is reserved once, and to look at its result reserves nothing")
  func reservation() {
    for _ in 0..<2 { #expect(link(performed.result(of: "a")) == nil) }
    #expect(link(performed.begin("a")) == nil)
    #expect(link(performed.begin("a")) == .some(nil) && link(performed.result(of: "a")) == .some(nil))
    performed.finish("a", Link(["done"]))
    #expect(link(performed.begin("a")) == Link(["done"]))
    #expect(link(performed.result(of: "a")) == Link(["done"]))
  }

  @Test("After a failure, the form can be confirmed again")
  func failure() {
    _ = performed.begin("a")
    performed.abandon("a")
    #expect(link(performed.result(of: "a")) == nil && link(performed.begin("a")) == nil)
  }
}
