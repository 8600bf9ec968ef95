internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Sandbox

/// Posts over HTTP/1.1, as Apple does.
final class HTTPNotificationPoster: NotificationPoster {
  /// The poster, on the process's own event loops. It lives as long as the process: its client may not be let go
  /// of before all its connections are closed.
  static let shared = HTTPNotificationPoster()

  private let client: HTTPClient
  private static let timeout = TimeAmount.seconds(10)
  private static let answerLimit = 1 << 20

  private init() {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
    configuration.httpVersion = .http1Only
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  func post(_ body: [UInt8], to url: String) async -> SendAttemptResult { await ask(body, at: url).result }

  func ask(_ body: [UInt8], at url: String) async -> (result: SendAttemptResult, answer: [UInt8]) {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "entitled-sandbox")
    request.body = .bytes(ByteBuffer(bytes: body))
    do {
      let response = try await client.execute(request, timeout: Self.timeout)
      let answer = try await response.body.collect(upTo: Self.answerLimit)
      // Apple documents 200 to 206 as success.
      let isTaken = (200...206).contains(response.status.code)
      return (isTaken ? .success : .unsuccessfulStatus, Array(answer.readableBytesView))
    } catch is NIOTooManyBytesError {
      return (.invalidResponse, [])
    } catch let error as HTTPClientError {
      return (SendAttemptResult(error), [])
    } catch {
      return (.socketIssue, [])
    }
  }
}

extension SendAttemptResult {
  fileprivate init(_ error: HTTPClientError) {
    switch error {
    case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded: self = .timedOut
    case .redirectCycleDetected, .redirectLimitReached: self = .circularRedirect
    case .remoteConnectionClosed: self = .prematureClose
    case .tlsHandshakeTimeout: self = .tlsIssue
    default: self = .other
    }
  }
}
