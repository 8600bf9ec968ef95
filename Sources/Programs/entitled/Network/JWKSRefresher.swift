internal import AsyncHTTPClient
internal import Callers
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Platform
internal import SignedData
internal import Synchronization

/// Fetches the keys of the identity provider: at the start, every ten minutes, and when a token names a key
/// that is not known, since keys are exchanged without notice.
final class JWKSRefresher: Worker {
  let name = "jwks"
  private struct Target {
    let url: String
    let issuer: TokenIssuer
  }

  private static let interval = Duration.seconds(600)
  /// So often at most we knock at the provider's door in each ``period``, however many tokens with invented keys come.
  private static let fetchLimit = 5
  private static let period = Duration.seconds(60)
  private static let sizeLimit = 1 << 20

  private let task = Mutex<Target?>(nil)
  private let requests = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// From now on the keys at `url` are the issuer's.
  func begin(from url: String, for issuer: TokenIssuer) {
    task.withLock { $0 = Target(url: url, issuer: issuer) }
    request()
  }

  /// Asks for newer keys soon.
  func request() { requests.continuation.yield() }

  /// Fetches until the task is cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while (try? await _Concurrency.Task.sleep(for: Self.interval)) != nil { self.request() }
      }
      group.addTask {
        var recent: [ContinuousClock.Instant] = []
        for await _ in self.requests.stream {
          recent.append(.now)
          await self.fetch()
          guard recent.count == Self.fetchLimit else { continue }
          try? await _Concurrency.Task.sleep(until: recent.removeFirst() + Self.period)
        }
      }
    }
  }

  private func fetch() async {
    guard let task = task.withLock({ $0 }) else { return }
    do {
      let response = try await HTTPClient.shared.execute(
        HTTPClientRequest(url: task.url), timeout: .seconds(10))
      guard response.status == .ok else {
        throw Failure("it answers with the status \(response.status.code)")
      }
      let body = try await response.body.collect(upTo: Self.sizeLimit)
      task.issuer.replaceKeys(with: try JSONWebKeySet(parsing: Array(body.readableBytesView)))
      logger.info("the keys of the token issuer were fetched", metadata: ["url": "\(task.url)"])
    } catch {
      let reason = (error as? Failure)?.message ?? "\(error)"
      logger.error(
        "the keys of the token issuer cannot be fetched; those that are known stay",
        metadata: ["url": "\(task.url)", "error": "\(reason)"])
    }
  }
}
