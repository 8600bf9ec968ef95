import AppStore
import Bytes
import Callers
import HTTP
import JSON
import SignedData
import Synchronization
import Testing

@Suite struct TokenIssuerTests {
  private static let now = Instant(millisecondsSince1970: 1_700_000_000_000)
  private static let seconds: Int64 = 1_700_000_000
  private static let terms = TokenIssuer.Terms(
    issuer: "https://id.example.com", audience: "entitled", rolesClaim: "roles")

  private let signer: JWTSigner
  private let keys: JSONWebKeySet

  init() throws {
    signer = try JWTSigner(key: .generate(.p256), keyID: "one")
    keys = try JSONWebKeySet(
      parsing: JSONObject(dictionaryLiteral: ("keys", .array([.object(try signer.publicJWK())])))
        .serialized())
  }

  private static var claims: JSONObject {
    [
      "iss": "https://id.example.com", "aud": "entitled", "sub": "svc-billing",
      "exp": .number(JSONNumber(seconds + 60)),
    ]
  }

  private func find(
    _ token: String, keys: JSONWebKeySet? = nil, onUnknownKey: @escaping @Sendable () -> Void = {}
  ) throws(CallerError) -> Caller {
    let issuer = TokenIssuer(Self.terms, keys: keys ?? self.keys, onUnknownKey: onUnknownKey)
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: ["svc-billing"])], issuer: issuer)
    let authenticator = Authenticator(CurrentCallers(.listed(directory)), now: { Self.now })
    return try authenticator.caller(HeaderFields([("authorization", "Bearer \(token)")]))
  }

  @Test("A configured subject has the configured roles, not those of the token")
  func definedSubject() throws {
    var claims = Self.claims
    claims["roles"] = ["admin"]
    let caller = try find(try signer.sign(claims))
    #expect(caller.name == "billing")
    #expect(caller.roles == [.submit])
  }

  @Test(
    "An unconfigured subject has the roles of its token, as a list or space-separated",
    arguments: [JSONValue.array(["read", "operate", "cook"]), "read operate cook"])
  func claimedRoles(roles: JSONValue) throws {
    var claims = Self.claims
    claims["sub"] = "billing"
    claims["roles"] = roles
    let caller = try find(try signer.sign(claims))
    #expect(caller.name == "subject:billing", "it must not be taken for the operator's caller of that name")
    #expect(caller.roles == [.read, .operate, .reports], "the role to read includes that of reports")
  }

  @Test("A subject without roles is rejected, with what it lacks")
  func noRoles() throws {
    var claims = Self.claims
    claims["sub"] = "stranger"
    claims["roles"] = ["cook"]
    let token = try signer.sign(claims)
    let error = CallerError.unknownSubject("stranger", rolesClaim: "roles")
    #expect(throws: error) { try find(token) }
    #expect(error.description.hasSuffix("configured caller, and its claim 'roles' has no role"))
    #expect(error.description.contains("its subject 'stranger' is in"))
    #expect(
      CallerError.unknownSubject("stranger", rolesClaim: nil).description.hasSuffix("configured caller"))
  }

  @Test(
    "A token with wrong claims is rejected with the reason",
    arguments: [
      ("iss", "https://other.example.com", "wrong issuer 'https://other.example.com'"),
      ("aud", "others", "wrong audience 'others'"),
      ("exp", .number(JSONNumber(seconds - 31)), "expired"),
      ("nbf", .number(JSONNumber(seconds + 31)), "not valid yet"),
      ("sub", "", "missing subject, the claim 'sub'"),
      ("sub", "a\u{0}b", "the subject, the claim 'sub', contains a NUL"),
      ("exp", .null, "missing expiry"), ("exp", "tomorrow", "missing expiry"),
      ("aud", "entitled others", "wrong audience 'entitled others'"),
      ("aud", ["entitled", 1], "malformed audience"),
      ("aud", 1, "malformed audience"), ("aud", ["entitled": true], "malformed audience"),
      ("nbf", "1699999999", "malformed start"), ("nbf", .null, "malformed start"),
    ] as [(String, JSONValue, String)])
  func wrongClaims(name: String, value: JSONValue, reason: String) throws {
    var claims = Self.claims
    claims[name] = value
    let token = try signer.sign(claims)
    #expect {
      _ = try find(token)
    } throws: {
      "\($0)".contains(reason)
    }
  }

  @Test(
    "Subject, issuer and audience are compared by their bytes, not as equivalent texts",
    arguments: ["sub", "iss", "aud"])
  func equivalentTexts(name: String) throws {
    let (composed, decomposed) = ("jos\u{E9}", "jose\u{301}")
    let issuer = TokenIssuer(
      TokenIssuer.Terms(issuer: composed, audience: composed, rolesClaim: nil), keys: keys)
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: [composed])], issuer: issuer)
    var claims = Self.claims
    for claim in ["sub", "iss", "aud"] { claims[claim] = .string(composed) }
    let own = try signer.sign(claims)
    #expect(try directory.find(signedToken: own, at: { Self.now }).caller.name == "billing")
    claims[name] = .string(decomposed)
    let other = try signer.sign(claims)
    #expect(throws: CallerError.self) { try directory.find(signedToken: other, at: { Self.now }) }
  }

  @Test("A clock skew of half a minute is tolerated")
  func leeway() throws {
    var claims = Self.claims
    claims["exp"] = .number(JSONNumber(Self.seconds - 29))
    claims["nbf"] = .number(JSONNumber(Self.seconds + 29))
    #expect(try find(try signer.sign(claims)).name == "billing")
  }

  @Test("Another key, an altered claim and another algorithm are rejected")
  func forged() throws {
    let good = try signer.sign(Self.claims)
    let parts = good.split(separator: ".").map(String.init)
    let other = try JWTSigner(key: .generate(.p256), keyID: "one").sign(Self.claims)
    let none = Base64.url.encode(Array(#"{"alg":"none"}"#.utf8))
    let hmac = Base64.url.encode(Array(#"{"alg":"HS256","kid":"one"}"#.utf8))
    let forgeries = [
      other, "\(parts[0]).\(parts[1])x.\(parts[2])", "\(parts[0]).\(parts[1]).", "\(none).\(parts[1]).",
      "\(hmac).\(parts[1]).\(parts[2])", "a.b", "a.b.c", "..",
    ]
    for forgery in forgeries {
      #expect(throws: CallerError.self) { try find(forgery) }
    }
  }

  @Test(
    "A token with a key id that is not a string is rejected", arguments: ["5", "null", "[]", #"{"a":1}"#])
  func malformedKeyID(keyID: String) throws {
    let parts = try signer.sign(Self.claims).split(separator: ".").map(String.init)
    let header = Base64.url.encode(Array(#"{"alg":"ES256","kid":\#(keyID)}"#.utf8))
    #expect(throws: CallerError.badToken(reason: "not a JSON Web Token")) {
      try find("\(header).\(parts[1]).\(parts[2])")
    }
  }

  @Test(
    "A key that is not for signatures is not used",
    arguments: [
      ("use", "enc"), ("use", 5), ("key_ops", ["encrypt"]), ("key_ops", []), ("key_ops", "verify"),
      ("key_ops", ["sign", "verify"]), ("use", "sig"),
    ] as [(String, JSONValue)])
  func keyUse(name: String, value: JSONValue) throws {
    var member = try signer.publicJWK()
    member[name] = value
    let set = JSONObject(dictionaryLiteral: ("keys", .array([.object(member)]))).serialized()
    let isUsable = value == ["sign", "verify"] || value == "sig"
    #expect(((try? JSONWebKeySet(parsing: set)) != nil) == isUsable)
  }

  private final class Counter: Sendable {
    let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
  }

  @Test(
    "A token without a key id is tried with each key if the issuer has few, and with none if it has many",
    arguments: [8, 9])
  func missingKeyID(count: Int) throws {
    let own = try SigningKey.generate(.p256)
    var members = try (1..<count).map { try JWTSigner(key: .generate(.p256), keyID: "key \($0)").publicJWK() }
    members.append(try JWTSigner(key: own, keyID: "own").publicJWK())
    let set: JSONObject = ["keys": .array(members.map { .object($0) })]
    let parts = [Array(#"{"alg":"ES256"}"#.utf8), JSONValue.object(Self.claims).serialized()]
    let message = parts.map { Base64.url.encode($0) }.joined(separator: ".")
    let token = message + "." + Base64.url.encode(try own.sign(Array(message.utf8)[...]))
    let keys = try JSONWebKeySet(parsing: set.serialized())
    if count == 8 {
      #expect(try find(token, keys: keys).name == "billing")
    } else {
      #expect(throws: CallerError.badToken(reason: "no key id, and the issuer has many keys")) {
        try find(token, keys: keys)
      }
    }
  }

  @Test("Other keys of the issuer invalidate what was derived from the callers; the same keys do not")
  func observedKeys() throws {
    let issuer = TokenIssuer(Self.terms, keys: keys)
    let callers = CurrentCallers(.open)
    callers.replace(with: .listed(CallerDirectory([], issuer: issuer)))
    let calls = Counter()
    let observer = callers.observe { calls.count.withLock { $0 += 1 } }
    let generation = callers.generation
    issuer.replaceKeys(with: keys)
    #expect(callers.generation == generation && calls.value == 0)
    let other = try JWTSigner(key: .generate(.p256), keyID: "two").publicJWK()
    issuer.replaceKeys(
      with: try JSONWebKeySet(
        parsing: JSONObject(dictionaryLiteral: ("keys", .array([.object(other)]))).serialized()))
    #expect(callers.generation == generation + 1 && calls.value == 1)
    callers.removeObserver(observer)
  }

  @Test("An unknown key triggers a refresh and is accepted afterwards")
  func rotation() throws {
    let asked = Mutex(0)
    let next = try JWTSigner(key: .generate(.p256), keyID: "two")
    let token = try next.sign(Self.claims)
    let issuer = TokenIssuer(Self.terms, keys: keys) { asked.withLock { $0 += 1 } }
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: ["svc-billing"])], issuer: issuer)
    let authenticator = Authenticator(CurrentCallers(.listed(directory)), now: { Self.now })
    let headers = HeaderFields([("authorization", "Bearer \(token)")])
    #expect(throws: CallerError.self) { try authenticator.caller(headers) }
    #expect(asked.withLock { $0 } == 1)
    issuer.replaceKeys(
      with: try JSONWebKeySet(
        parsing: JSONObject(dictionaryLiteral: ("keys", .array([.object(try next.publicJWK())])))
          .serialized()))
    #expect(try authenticator.caller(headers).name == "billing")
  }

  @Test("A token that was accepted is rejected once its key is withdrawn")
  func withdrawal() throws {
    let issuer = TokenIssuer(Self.terms, keys: keys)
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: ["svc-billing"])], issuer: issuer)
    let authenticator = Authenticator(CurrentCallers(.listed(directory)), now: { Self.now })
    let headers = HeaderFields([("authorization", "Bearer \(try signer.sign(Self.claims))")])
    #expect(try authenticator.caller(headers).name == "billing")
    let next = try JWTSigner(key: .generate(.p256), keyID: "two")
    issuer.replaceKeys(
      with: try JSONWebKeySet(
        parsing: JSONObject(dictionaryLiteral: ("keys", .array([.object(try next.publicJWK())])))
          .serialized()))
    #expect(throws: CallerError.self) { try authenticator.caller(headers) }
  }

  @Test("A set without a usable key is an error, unless it may be empty; then it accepts no token")
  func noKey() throws {
    for text in [#"{"keys":[]}"#, #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}"#] {
      #expect(throws: CryptographyError.self) { try JSONWebKeySet(parsing: Array(text.utf8)) }
      let empty = try JSONWebKeySet(parsing: Array(text.utf8), allowsNoKey: true)
      let token = try signer.sign(Self.claims)
      #expect(empty.isEmpty && !keys.isEmpty)
      #expect(throws: CallerError.badToken(reason: "unknown signing key")) { try find(token, keys: empty) }
    }
    for text in ["", "[]", "{}", #"{"keys":{}}"#] {
      #expect(throws: CryptographyError.self) {
        try JSONWebKeySet(parsing: Array(text.utf8), allowsNoKey: true)
      }
    }
  }

  @Test("An unusable key of a set is skipped and reported, and the others are used")
  func unusableKey() throws {
    let unusable: JSONObject = ["kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA", "kid": "broken"]
    let set: JSONObject = ["keys": .array([.object(unusable), .object(try signer.publicJWK())])]
    let keys = try JSONWebKeySet(parsing: set.serialized())
    #expect(keys.skipped.count == 1 && keys.skipped.allSatisfy { $0.hasPrefix("broken: ") })
    #expect(try find(try signer.sign(Self.claims), keys: keys).name == "billing")
  }

  @Test("A cached signed token is rejected after its expiry")
  func expiredInCache() throws {
    let time = Mutex(Self.now)
    let issuer = TokenIssuer(Self.terms, keys: keys)
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: ["svc-billing"])], issuer: issuer)
    let authenticator = Authenticator(CurrentCallers(.listed(directory)), now: { time.withLock { $0 } })
    let headers = HeaderFields([("authorization", "Bearer \(try signer.sign(Self.claims))")])
    #expect(try authenticator.caller(headers).name == "billing")
    time.withLock { $0 = $0.advanced(byMilliseconds: 91_000) }
    #expect(throws: CallerError.self) { try authenticator.caller(headers) }
  }

  @Test("After too many invalid tokens, a network's tokens are verified no more, unless they are cached")
  func invalidTokens() throws {
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: ["svc-billing"])],
      issuer: TokenIssuer(Self.terms, keys: keys))
    let authenticator = Authenticator(
      CurrentCallers(.listed(directory)), now: { Self.now },
      invalidTokens: AddressLimiter(perSecond: 1, burstSeconds: 3, ticks: { 0 }))
    let (stranger, other) = (PeerNetwork(address: "192.0.2.1"), PeerNetwork(address: "192.0.2.2"))
    func headers(_ signer: JWTSigner) throws -> HeaderFields {
      HeaderFields([("authorization", "Bearer \(try signer.sign(Self.claims))")])
    }
    let known = try headers(signer)
    #expect(try authenticator.caller(known, network: stranger).name == "billing")
    let forged = try headers(JWTSigner(key: .generate(.p256), keyID: "one"))
    for _ in 0..<3 {
      #expect(throws: CallerError.badToken(reason: "invalid signature")) {
        try authenticator.caller(forged, network: stranger)
      }
    }
    let refusal = CallerError.tooManyBadTokens(retryAfterMilliseconds: 1_001)
    #expect(throws: refusal) { try authenticator.caller(forged, network: stranger) }
    #expect(try authenticator.caller(known, network: stranger).name == "billing")
    let next = try headers(signer)
    #expect(throws: refusal) { try authenticator.caller(next, network: stranger) }
    #expect(try authenticator.caller(next, network: other).name == "billing")
  }

  @Test("A short RSA key is rejected")
  func shortKey() throws {
    #expect(throws: CryptographyError.self) {
      // 512 bits.
      let modulus = String(repeating: "A", count: 3) + "wP" + String(repeating: "z", count: 80)
      let set: JSONObject = ["keys": [["kty": "RSA", "n": .string(modulus), "e": "AQAB"]]]
      return try JSONWebKeySet(parsing: set.serialized())
    }
  }
}
