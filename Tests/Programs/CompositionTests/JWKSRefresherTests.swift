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
  /// An identity provider that serves one document.
  private final class Provider: HTTPExchange {
    private struct State {
      var document: [UInt8]
      var fetches = 0
    }

    private let state: Mutex<State>

    init(_ document: [UInt8]) { state = Mutex(State(document: document)) }

    /// The number of fetches of the present document.
    var fetches: Int { state.withLock { $0.fetches } }

    func serve(_ document: [UInt8]) { state.withLock { $0 = State(document: document) } }

    func send(
      _ request: OutgoingRequest, timeout: Duration, limit: Int
    ) async throws(HTTPExchangeError) -> IncomingResponse {
      let document = state.withLock { state in
        state.fetches += 1
        return state.document
      }
      return IncomingResponse(status: 200, headers: [], body: document)
    }
  }

  private static func set(of signers: JWTSigner...) throws -> [UInt8] {
    JSONObject(dictionaryLiteral: ("keys", .array(try signers.map { .object(try $0.publicJWK()) })))
      .serialized()
  }

  @Test(
    "A withdrawn key is rejected after the interval, also for a token seen before and without an unknown key",
    .timeLimit(.minutes(5)), arguments: [true, false])
  func withdrawal(hasNextKey: Bool) async throws {
    let now = Instant(millisecondsSince1970: 1_700_000_000_000)
    let signer = try JWTSigner(key: .generate(.p256), keyID: "one")
    let provider = Provider(try Self.set(of: signer))
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
    // A response that is not a key set changes nothing.
    provider.serve(Array("{}".utf8))
    while provider.fetches < 2 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(isAccepted())
    let next = try JWTSigner(key: .generate(.p256), keyID: "two")
    provider.serve(try hasNextKey ? Self.set(of: next) : Self.set())
    while isAccepted() { try await Task.sleep(for: .milliseconds(5)) }
    running.cancel()
    await running.value
  }
}
