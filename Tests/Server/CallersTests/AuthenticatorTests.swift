import AppStore
import Callers
import HTTP
import SignedData
import Synchronization
import TestSupport
import Testing

@Suite struct AuthenticatorTests {
  private let token = "ent_abcdefghijklmnopqrstuvwxyz0123456789"
  private let now = Instant(millisecondsSince1970: 1_700_000_000_000)

  private func authenticator(_ policy: CallerPolicy) -> (Authenticator, CurrentCallers) {
    let callers = CurrentCallers(policy)
    return (Authenticator(callers, now: { [now] in now }), callers)
  }

  private func directory(_ name: String, token: String) throws -> CallerDirectory {
    CallerDirectory([
      CallerDefinition(name: name, roles: [.read], tokens: [TokenHash(of: token.utf8)])
    ])
  }

  private func headers(_ authorization: String?) -> HeaderFields {
    HeaderFields(
      [(":path", "/x")] + (authorization.map { [("authorization", $0)] } ?? []) + [("te", "trailers")])
  }

  @Test("A configured token authenticates its caller, with the scheme in any case")
  func token_() throws {
    let (authenticator, _) = authenticator(.listed(try directory("billing", token: token)))
    for scheme in ["Bearer", "bearer", "BEARER", "Bearer"] {
      #expect(try authenticator.caller(headers("\(scheme) \(token)")).name == "billing")
    }
  }

  @Test(
    "Missing, malformed and unknown credentials are rejected with the reason",
    arguments: [
      (nil, CallerError.noCredential), ("", .notABearer), ("Bearer", .notABearer), ("Bearer ", .notABearer),
      ("Basic YTpi", .notABearer), ("Bearer ent_", .unknownToken),
      ("Bearer ent_abcdefghijklmnopqrstuvwxyz012345678", .unknownToken),
      ("Bearer ent_abcdefghijklmnopqrstuvwxyz0123456789 ", .unknownToken),
      ("Bearer xnt_abcdefghijklmnopqrstuvwxyz0123456789", .unknownToken),
    ] as [(String?, CallerError)])
  func refused(field: String?, error: CallerError) throws {
    let (authenticator, _) = authenticator(.listed(try directory("billing", token: token)))
    // Before and after a call with the right token, which shares a cache slot with one of the tokens.
    #expect(throws: error) { try authenticator.caller(headers(field)) }
    _ = try authenticator.caller(headers("Bearer \(token)"))
    #expect(throws: error) { try authenticator.caller(headers(field)) }
  }

  @Test("A replaced policy takes effect on the next call, also for cached callers")
  func replaced() throws {
    let (authenticator, callers) = authenticator(.listed(try directory("billing", token: token)))
    _ = try authenticator.caller(headers("Bearer \(token)"))
    callers.replace(with: .listed(try directory("support", token: token)))
    #expect(try authenticator.caller(headers("Bearer \(token)")).name == "support")
    callers.replace(with: .listed(CallerDirectory([])))
    #expect(throws: CallerError.unknownToken) { try authenticator.caller(headers("Bearer \(token)")) }
    callers.replace(with: .open)
    #expect(try authenticator.caller(headers(nil)).roles == Set(Role.allCases))
  }

  @Test("A certificate authenticates a call without a token")
  func certificate() throws {
    let directory = CallerDirectory([
      CallerDefinition(name: "gateway", roles: [.submit], certificateNames: ["spiffe://example.com/gateway"])
    ])
    let (authenticator, _) = authenticator(.listed(directory))
    let names = ["gateway.internal", "spiffe://example.com/gateway"]
    #expect(try authenticator.caller(headers(nil), certificateNames: names).name == "gateway")
    #expect(throws: CallerError.unknownCertificate) {
      try authenticator.caller(headers(nil), certificateNames: ["spiffe://example.com/other"])
    }
    #expect(throws: CallerError.unknownToken) {
      try authenticator.caller(headers("Bearer \(token)"), certificateNames: names)
    }
  }

  @Test("Tokens that share a cache slot are not confused")
  func many() throws {
    var generator = SplitMix64(state: 7)
    // More tokens than cache slots.
    let tokens = (0..<300).map { _ in TokenHash.newToken(using: &generator) }
    let definitions = tokens.enumerated().map { index, token in
      CallerDefinition(name: "caller-\(index)", roles: [.read], tokens: [TokenHash(of: token.utf8)])
    }
    let (authenticator, _) = authenticator(.listed(CallerDirectory(definitions)))
    for _ in 0..<2 {
      for (index, token) in tokens.enumerated() {
        #expect(try authenticator.caller(headers("Bearer \(token)")).name == "caller-\(index)")
      }
    }
  }

  @Test("A token hash survives encoding; other texts are rejected")
  func hashText() throws {
    let hash = TokenHash(of: token.utf8)
    #expect(TokenHash(hash.description) == hash)
    #expect(hash.description.hasPrefix("sha256:") && hash.description.utf8.count == 71)
    for wrong in ["", "sha256:", token, String(hash.description.dropLast()), hash.description + "0"] {
      #expect(TokenHash(wrong) == nil)
    }
  }

  @Test("The role admin includes all roles, and read includes reports")
  func roles() {
    #expect(Role.effective([.admin]) == Set(Role.allCases))
    #expect(Role.effective([.operate]) == [.operate])
    #expect(Role.effective([.read, .submit]) == [.read, .submit, .reports])
    #expect(Role.effective([.reports]) == [.reports])
    #expect(Role.effective([.audit]) == [.audit])
    #expect(Set(Role.allCases.map(\.bit)).count == Role.allCases.count)
  }
}
