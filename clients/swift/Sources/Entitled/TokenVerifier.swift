import Crypto
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token that is not valid now.
public struct InvalidTokenError: Error, Sendable, CustomStringConvertible {
  /// What is wrong with the token.
  public let description: String
}

/// Verifies the tokens of `IssueToken` offline, with the service's public keys.
///
/// Keys are fetched when a token names an unknown one, at most once in `refreshInterval` seconds. While the service
/// cannot be reached, the keys at hand stay valid.
public actor TokenVerifier {
  /// What a valid token states: the customer has exactly these entitlements until then.
  public struct Claims: Hashable, Sendable, Decodable {
    /// The operator's id of the customer.
    public var customerID: String
    /// The configured name of the app.
    public var app: String
    /// The environment of the purchases, for example "Production".
    public var environment: String
    /// The names of the entitlements.
    public var entitlements: Set<String>
    /// Seconds since 1970.
    public var expiresAt: Double
    var issuer: String
    var audience: String

    enum CodingKeys: String, CodingKey {
      case customerID = "sub"
      case expiresAt = "exp"
      case issuer = "iss"
      case audience = "aud"
      case app, environment, entitlements
    }
  }

  private struct Header: Decodable {
    var alg: String
    var kid: String
  }

  private struct KeySet: Decodable {
    struct Key: Decodable {
      var kty, kid, crv, x, y: String?
    }
    var keys: [Key]
  }

  private let fetch: @Sendable () async throws -> Data
  private let issuer: String
  private let audience: String
  private let app: String?
  private let leeway: Double
  private let refreshInterval: Double
  private let now: @Sendable () -> Date
  private var keys: [String: P256.Signing.PublicKey] = [:]
  private var fetchedAt = Date.distantPast
  private var refresh: Task<Void, Never>?

  /// `fetch` returns the key set of `/.well-known/jwks.json`; `leeway` is the tolerance in seconds for clocks that
  /// differ. With `app`, tokens of other apps are refused: callers of every app may name this audience.
  public init(
    issuer: String, audience: String, app: String? = nil, leeway: Double = 5, refreshInterval: Double = 30,
    now: @escaping @Sendable () -> Date = { Date() }, fetch: @escaping @Sendable () async throws -> Data
  ) {
    self.issuer = issuer
    self.audience = audience
    self.app = app
    self.leeway = leeway
    self.refreshInterval = refreshInterval
    self.now = now
    self.fetch = fetch
  }

  /// Fetches the keys from this address.
  public init(jwksURL: URL, issuer: String, audience: String, app: String? = nil) {
    self.init(issuer: issuer, audience: audience, app: app) {
      let (data, response) = try await URLSession.shared.data(
        for: URLRequest(url: jwksURL, timeoutInterval: 5))
      guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
      return data
    }
  }

  /// Returns what the token states.
  public func verify(_ token: String) async throws -> Claims {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw InvalidTokenError(description: "the token does not have three parts")
    }
    let header: Header = try Self.decode(parts[0])
    guard header.alg == "ES256" else { throw InvalidTokenError(description: "the algorithm is not ES256") }
    guard let key = await key(header.kid) else {
      throw InvalidTokenError(description: "the key of the token is not among the service's keys")
    }
    guard let bytes = Self.data(parts[2]),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
      key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    else { throw InvalidTokenError(description: "the signature is wrong") }
    let claims: Claims = try Self.decode(parts[1])
    guard claims.issuer == issuer else {
      throw InvalidTokenError(description: "another service issued the token")
    }
    guard claims.audience == audience else {
      throw InvalidTokenError(description: "the token is for another audience")
    }
    guard app == nil || claims.app == app else {
      throw InvalidTokenError(description: "the token is for another app")
    }
    guard now().timeIntervalSince1970 < claims.expiresAt + leeway else {
      throw InvalidTokenError(description: "the token has expired")
    }
    return claims
  }

  private func key(_ id: String) async -> P256.Signing.PublicKey? {
    if keys[id] == nil {
      if refresh == nil, now().timeIntervalSince(fetchedAt) >= refreshInterval {
        fetchedAt = now()
        refresh = Task { await fetchKeys() }
      }
      await refresh?.value
    }
    return keys[id]
  }

  private func fetchKeys() async {
    if let data = try? await fetch(), let set = try? JSONDecoder().decode(KeySet.self, from: data) {
      keys = Self.usable(set)
    }
    refresh = nil
  }

  private static func usable(_ set: KeySet) -> [String: P256.Signing.PublicKey] {
    var keys: [String: P256.Signing.PublicKey] = [:]
    for key in set.keys where key.kty == "EC" && key.crv == "P-256" {
      guard let id = key.kid, let x = key.x.flatMap({ data($0[...]) }),
        let y = key.y.flatMap({ data($0[...]) })
      else {
        continue
      }
      keys[id] = try? P256.Signing.PublicKey(rawRepresentation: x + y)
    }
    return keys
  }

  private static func decode<Value: Decodable>(_ part: Substring) throws -> Value {
    guard let data = data(part), let value = try? JSONDecoder().decode(Value.self, from: data) else {
      throw InvalidTokenError(description: "a part of the token is not what the service writes")
    }
    return value
  }

  private static func data(_ base64url: Substring) -> Data? {
    let text = base64url.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
  }
}
