import AppStore
import AppStoreClient
import Callers
import HTTP
import JSON
import Logging
import SignedData
import Synchronization
import Testing

@testable import entitled

@Suite struct JWKSRefresherTests {
  /// An identity provider that serves the keys of `signer`.
  private final class Provider: HTTPExchange {
    let signer: Mutex<JWTSigner>

    init(_ signer: JWTSigner) { self.signer = Mutex(signer) }

    func send(
      _ request: OutgoingRequest, timeout: Duration, limit: Int
    ) async throws(HTTPExchangeError) -> IncomingResponse {
      let keys = try? signer.withLock { try JWKSRefresherTests.set(of: $0) }
      return IncomingResponse(status: keys == nil ? 500 : 200, headers: [], body: keys ?? [])
    }
  }

  private static func set(of signer: JWTSigner) throws -> [UInt8] {
    JSONObject(dictionaryLiteral: ("keys", .array([.object(try signer.publicJWK())]))).serialized()
  }

  @Test(
    "A withdrawn key is rejected after the interval, also for a token seen before and without an unknown key",
    .timeLimit(.minutes(5)))
  func withdrawal() async throws {
    let now = Instant(millisecondsSince1970: 1_700_000_000_000)
    let signer = try JWTSigner(key: .generate(.p256), keyID: "one")
    let provider = Provider(signer)
    let refresher = JWKSRefresher(
      interval: .seconds(1), exchange: provider, logger: Logger(label: "test"))
    let issuer = TokenIssuer(
      TokenIssuer.Terms(issuer: "https://id.example.com", audience: "entitled", rolesClaim: "roles"),
      keys: try JSONWebKeySet(parsing: Self.set(of: JWTSigner(key: .generate(.p256), keyID: "zero"))))
    let directory = CallerDirectory(
      [CallerDefinition(name: "billing", roles: [.submit], subjects: ["svc-billing"])], issuer: issuer)
    let authenticator = Authenticator(CurrentCallers(.listed(directory)), now: { now })
    let claims: JSONObject = [
      "iss": "https://id.example.com", "aud": "entitled", "sub": "svc-billing",
      "exp": .number(JSONNumber(now.millisecondsSince1970 / 1_000 + 60)),
    ]
    let headers = HeaderFields([("authorization", "Bearer \(try signer.sign(claims))")])
    func isAccepted() -> Bool { (try? authenticator.caller(headers).name) == "billing" }

    refresher.begin(from: "https://id.example.com/keys", for: issuer)
    let running = Task { await refresher.run() }
    while !isAccepted() { try await Task.sleep(for: .milliseconds(5)) }
    let next = try JWTSigner(key: .generate(.p256), keyID: "two")
    provider.signer.withLock { $0 = next }
    while isAccepted() { try await Task.sleep(for: .milliseconds(5)) }
    running.cancel()
    await running.value
  }
}
