internal import AppStoreClient
internal import Callers
internal import CommandSupport
internal import Logging
internal import Platform
internal import SignedData
internal import Synchronization

/// Fetches the JWKS of the identity provider: at startup, every ten minutes, and when a token has an unknown key id,
/// because providers rotate keys without notice. After a failed fetch, the keys of the last one stay in force.
final class JWKSRefresher: Worker {
  let name: String

  /// The URL of the keys, and the issuer whose tokens they verify.
  private struct Target {
    let url: String
    let issuer: TokenIssuer
  }

  /// The maximum number of fetches in each ``period``, so that tokens with invented key ids do not flood the provider.
  private static let fetchLimit = 5
  private static let period = Duration.seconds(60)
  /// In bytes.
  private static let sizeLimit = 1 << 20

  private let target = Mutex<Target?>(nil)
  /// The keys of the last successful fetch, for the issuer that a reload of the configuration makes.
  private let fetched = Mutex<(url: String, keys: JSONWebKeySet)?>(nil)
  private let requests = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let interval: Duration
  private let exchange: any HTTPExchange
  private let logger: Logger

  /// A refresher of the worker name `name`. A withdrawn key is accepted until the fetch after it, so at most for `interval`
  /// if the provider answers.
  init(
    name: String = "jwks", interval: Duration = .seconds(600),
    exchange: any HTTPExchange = CurlExchange.shared, logger: Logger
  ) {
    self.name = name
    self.interval = interval
    self.exchange = exchange
    self.logger = logger
  }

  /// Fetches the keys of `issuer` from `url` from now on.
  func begin(from url: String, for issuer: TokenIssuer) {
    target.withLock { $0 = Target(url: url, issuer: issuer) }
    request()
  }

  /// The keys that were last fetched from `url`; `nil` if there are none.
  func keys(from url: String) -> JSONWebKeySet? {
    fetched.withLock { $0?.url == url ? $0?.keys : nil }
  }

  /// Requests a fetch. Requests during a fetch become one.
  func request() { requests.continuation.yield() }

  /// Fetches until the task is cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while (try? await Task.sleep(for: self.interval)) != nil { self.request() }
      }
      group.addTask {
        var recent: [ContinuousClock.Instant] = []
        for await _ in self.requests.stream {
          recent.append(.now)
          await self.fetch()
          guard recent.count == Self.fetchLimit else { continue }
          try? await Task.sleep(until: recent.removeFirst() + Self.period)
        }
      }
    }
  }

  /// Fetches once; an error is logged.
  private func fetch() async {
    guard let target = target.withLock({ $0 }) else { return }
    do {
      let request = OutgoingRequest(method: "GET", url: target.url, headers: [], body: [])
      let response = try await exchange.send(request, timeout: .seconds(10), limit: Self.sizeLimit)
      guard response.status == 200 else {
        throw Failure("the JWKS endpoint returned HTTP \(response.status)")
      }
      let keys = try JSONWebKeySet(parsing: response.body, allowsNoKey: true)
      fetched.withLock { $0 = (target.url, keys) }
      target.issuer.replaceKeys(with: keys)
      for problem in keys.skipped {
        logger.warning("JWKS key skipped", metadata: ["url": "\(target.url)", "error": "\(problem)"])
      }
      if keys.isEmpty {
        logger.warning(
          "JWKS without a usable key, rejecting all tokens of the issuer",
          metadata: ["url": "\(target.url)"])
      } else {
        logger.info("JWKS refreshed", metadata: ["url": "\(target.url)"])
      }
    } catch {
      logger.error(
        "JWKS refresh failed, keeping cached keys",
        metadata: ["url": "\(target.url)", "error": "\(error)"])
    }
  }
}
