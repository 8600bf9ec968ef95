import AppStore
import SignedData
import Synchronization

@testable import AppStoreClient

/// Returns scripted responses in order and records the requests.
final class ScriptedExchange: HTTPExchange {
  typealias Answer = Result<IncomingResponse, HTTPExchangeError>

  private struct State {
    var answers: [Answer]
    var requests: [OutgoingRequest] = []
    var timeouts: [Duration] = []
  }

  private let state: Mutex<State>
  private let answered: @Sendable () -> Void

  /// `answered` is called with each answer, such as to let time pass.
  convenience init(_ answers: Answer..., answered: @escaping @Sendable () -> Void = {}) {
    self.init(answers, answered: answered)
  }

  init(_ answers: [Answer], answered: @escaping @Sendable () -> Void = {}) {
    state = Mutex(State(answers: answers))
    self.answered = answered
  }

  var requests: [OutgoingRequest] { state.withLock { $0.requests } }
  /// The timeout of each request.
  var timeouts: [Duration] { state.withLock { $0.timeouts } }

  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    let answer: Answer? = state.withLock { state in
      state.requests.append(request)
      state.timeouts.append(timeout)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    answered()
    return try (answer ?? .failure(.unreachable("the script is over"))).get()
  }
}

extension ScriptedExchange.Answer {
  static func status(_ status: Int, _ body: String = "", _ headers: [(String, String)] = []) -> Self {
    .success(IncomingResponse(status: status, headers: headers, body: Array(body.utf8)))
  }
}

/// A clock that advances only while a caller sleeps.
final class ManualTime: Sendable {
  private let state = Mutex((milliseconds: Int64(0), sleeps: [Duration]()))

  /// 2026-01-01.
  static let start: Int64 = 1_767_225_600_000

  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func advance(_ duration: Duration) {
    state.withLock { $0.milliseconds += Int64(duration.seconds * 1_000) }
  }

  var clock: ClientClock {
    ClientClock(
      now: { [self] in Instant(millisecondsSince1970: Self.start + state.withLock { $0.milliseconds }) },
      uptime: { [self] in .milliseconds(state.withLock { $0.milliseconds }) },
      sleep: { [self] duration in
        state.withLock { $0.sleeps.append(duration) }
        advance(duration + .milliseconds(1))
      }, random: { 0.5 })
  }
}

func client(_ exchange: ScriptedExchange, _ time: ManualTime, share: Double = 1) throws
  -> AppStoreServerClient
{
  try client(exchange, time.clock, share: share)
}

func client(_ exchange: ScriptedExchange, _ clock: ClientClock, share: Double) throws
  -> AppStoreServerClient
{
  let credentials = AppStoreCredentials(
    issuerID: "issuer", bundleID: "com.example", signer: try JWTSigner(key: .generate(.p256), keyID: "KEY1"))
  return AppStoreServerClient(
    app: AppIdentity(bundleID: "com.example", appAppleID: 1), environment: .sandbox,
    server: AppStoreServer(baseURL: "https://apple.example/", rateLimitShare: share),
    tokens: ServerAPITokenSource(credentials: credentials, now: clock.now), exchange: exchange,
    clock: clock)
}
