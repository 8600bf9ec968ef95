import AppStore
import AppStoreClient
import DeviceCheck
import JSON
import SignedData
import Synchronization
import Testing

/// Returns scripted responses in order and records the requests.
private final class ScriptedExchange: HTTPExchange {
  private struct State {
    var answers: [IncomingResponse]
    var requests: [OutgoingRequest] = []
  }

  private let state: Mutex<State>

  convenience init(_ answers: (Int, String)...) {
    self.init(answers.map { IncomingResponse(status: $0.0, headers: [], body: Array($0.1.utf8)) })
  }

  init(_ answers: [IncomingResponse]) { state = Mutex(State(answers: answers)) }

  var requests: [OutgoingRequest] { state.withLock { $0.requests } }

  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    let answer: IncomingResponse? = state.withLock { state in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    guard let answer else { throw .unreachable("the script is over") }
    return answer
  }
}

@Suite struct DeviceCheckClientTests {
  private let now = Instant(millisecondsSince1970: 1_767_225_600_123)

  private func client(_ exchange: ScriptedExchange, team: String = "TEAM000001") throws -> DeviceCheckClient {
    let now = now
    let credentials = DeviceCheckCredentials(
      teamID: team, signer: try JWTSigner(key: .generate(.p256), keyID: "KEY0000001"))
    return DeviceCheckClient(
      server: AppStoreServer(baseURL: "https://apple.example/"),
      tokens: DeviceCheckTokenSource(credentials: credentials, now: { now }), exchange: exchange,
      clock: ClientClock(now: { now }, uptime: { .zero }, sleep: { _ in }, random: { 0.5 }))
  }

  private let device = DeviceCheckRequest(deviceToken: "cGhvbmU=")

  @Test("A request carries the token, its transaction id, the time and a provider token")
  func request() async throws {
    let exchange = ScriptedExchange((200, ""))
    try await client(exchange).update(DeviceBits(bit0: true, bit1: false), of: device, timeout: nil)
    let sent = try #require(exchange.requests.first)
    #expect(sent.method == "POST" && sent.url == "https://apple.example/v1/update_two_bits")
    let body = try #require(try JSONValue(parsing: sent.body).objectValue)
    #expect(body["device_token"] == "cGhvbmU=" && body["bit0"] == true && body["bit1"] == false)
    #expect(body["transaction_id"]?.stringValue == device.transactionID)
    #expect(body["timestamp"]?.int64Value == now.millisecondsSince1970)
    let header = try #require(sent.headers.first { $0.name == "authorization" }?.value)
    let token = try UnverifiedJWS(String(header.dropFirst("Bearer ".count)))
    #expect(token.header["alg"] == "ES256" && token.header["kid"] == "KEY0000001")
    #expect(token.payload["iss"] == "TEAM000001" && token.payload["iat"]?.int64Value == 1_767_225_600)
  }

  @Test(
    "A device whose bits were never set has none",
    arguments: ["Failed to find bit state", "Bit State Not Found\n", "failed to find bit state"])
  func never(text: String) async throws {
    #expect(try await client(ScriptedExchange((200, text))).bits(of: device, timeout: nil) == nil)
  }

  @Test("Bits are decoded with the month of their change")
  func bits() async throws {
    let exchange = ScriptedExchange((200, #"{"bit0":false,"bit1":true,"last_update_time":"2026-11"}"#))
    let bits = try #require(try await client(exchange).bits(of: device, timeout: nil))
    #expect(bits == DeviceBits(bit0: false, bit1: true, lastUpdate: "2026-11"))
  }

  @Test("Another text than bits is an error")
  func malformed() async throws {
    for text in ["", "<html>", "[]"] {
      await #expect(throws: DeviceCheckError.self) {
        try await client(ScriptedExchange((200, text))).bits(of: device, timeout: nil)
      }
    }
    await #expect(throws: DeviceCheckError.call(.missing(field: "bit0 or bit1"))) {
      try await client(ScriptedExchange((200, #"{"bit0":true}"#))).bits(of: device, timeout: nil)
    }
  }

  @Test("A rejected device token is not sent again, with Apple's text as reason")
  func refused() async throws {
    let text = "Missing or incorrectly formatted device token payload"
    let exchange = ScriptedExchange((400, text + "\n"))
    await #expect(throws: DeviceCheckError.refused(text)) {
      try await client(exchange).validate(device, timeout: nil)
    }
    #expect(exchange.requests.count == 1)
  }

  @Test("A rejected key is tried with one new token")
  func key() async throws {
    let exchange = ScriptedExchange((401, "Unable to verify authorization token"), (401, "no"))
    await #expect(throws: DeviceCheckError.keyRejected("no")) {
      try await client(exchange).validate(device, timeout: nil)
    }
    #expect(exchange.requests.count == 2)
    let tokens = exchange.requests.map { $0.headers.first { $0.name == "authorization" }?.value }
    #expect(tokens[0] != tokens[1])
  }

  @Test("A rejected bearer token is not the fault of the device, and may be that of the clock")
  func clock() async throws {
    let text = "Missing or badly formatted authorization token"
    await #expect(throws: DeviceCheckError.keyRejected(text)) {
      try await client(ScriptedExchange((400, text), (400, text))).validate(device, timeout: nil)
    }
    // An hour before `now`.
    let past = [(name: "date", value: "Wed, 31 Dec 2025 23:00:00 GMT")]
    let late = IncomingResponse(status: 401, headers: past, body: [])
    await #expect(throws: DeviceCheckError.call(.clockSkew(seconds: 3_600))) {
      try await client(ScriptedExchange([late, late])).validate(device, timeout: nil)
    }
  }

  @Test("A temporary failure is retried with the same transaction id")
  func retry() async throws {
    let exchange = ScriptedExchange((503, ""), (500, ""), (200, ""))
    try await client(exchange).validate(device, timeout: nil)
    let ids = try exchange.requests.map {
      try JSONValue(parsing: $0.body).objectValue?["transaction_id"]?.stringValue
    }
    #expect(ids == [device.transactionID, device.transactionID, device.transactionID])
  }

  @Test("An exceeded rate limit is reported with the time to wait")
  func rateLimit() async throws {
    let exchange = ScriptedExchange((429, "Too Many Requests"))
    await #expect(throws: DeviceCheckError.call(.rateLimited(retryAfter: .seconds(60)))) {
      try await client(exchange).validate(device, timeout: .seconds(1))
    }
    #expect(exchange.requests.count == 1)
  }

  @Test(
    "A change that may have had an effect in one of its attempts ends with the failure of that attempt",
    arguments: [
      ([503, 429], .call(.serverFailed(status: 503)), false),
      ([503, 400], .call(.serverFailed(status: 503)), false),
      ([429], .call(.rateLimited(retryAfter: .seconds(60))), true), ([400], .refused("text"), true),
      ([401, 401], .keyRejected("text"), true),
    ] as [([Int], DeviceCheckError, Bool)])
  func uncertain(statuses: [Int], error: DeviceCheckError, hadNoEffect: Bool) async throws {
    let exchange = ScriptedExchange(
      statuses.map { IncomingResponse(status: $0, headers: [], body: Array("text".utf8)) })
    await #expect(throws: error) {
      try await client(exchange).update(DeviceBits(bit0: true, bit1: false), of: device, timeout: .seconds(1))
    }
    #expect(error.hadNoEffect == hadNoEffect && exchange.requests.count == statuses.count)
  }

  @Test("New keys sign the calls after them, and an app without a key has no client")
  func keys() async throws {
    let exchange = ScriptedExchange((200, ""), (200, ""))
    let (clients, others) = (DeviceCheckClients(), DeviceCheckClients())
    clients["ocean", .sandbox] = try client(exchange)
    others["ocean", .sandbox] = try client(exchange, team: "TEAM000002")
    try await clients.client(for: "ocean", in: .sandbox).validate(device, timeout: nil)
    clients.adoptKeys(of: others)
    try await clients.client(for: "ocean", in: .sandbox).validate(device, timeout: nil)
    let teams = try exchange.requests.map { request in
      let header = request.headers.first { $0.name == "authorization" }?.value ?? ""
      return try UnverifiedJWS(String(header.dropFirst("Bearer ".count))).payload["iss"]?.stringValue
    }
    #expect(teams == ["TEAM000001", "TEAM000002"])
    clients.adoptKeys(of: DeviceCheckClients())
    #expect(throws: DeviceCheckError.noKey(appID: "ocean", environment: .sandbox)) {
      try clients.client(for: "ocean", in: .sandbox)
    }
  }
}
