internal import AppStore
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Sandbox

/// Posts the sandbox's notifications over HTTP/1.1, as Apple does.
final class HTTPNotificationPoster: NotificationPoster {
  /// The only instance. It is never released, because `HTTPClient` must not be released while connections are open.
  static let shared = HTTPNotificationPoster()

  private let client: HTTPClient
  private static let timeout = TimeAmount.seconds(10)
  private static let responseLimit = 1 << 20

  private init() {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
    configuration.httpVersion = .http1Only
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  func post(_ body: [UInt8], to url: String) async -> SendAttemptResult {
    await exchange(body, with: url).result
  }

  func exchange(_ body: [UInt8], with url: String) async -> (result: SendAttemptResult, response: [UInt8]) {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "entitled-sandbox")
    request.body = .bytes(ByteBuffer(bytes: body))
    do {
      let response = try await client.execute(request, timeout: Self.timeout)
      let responseBody = try await response.body.collect(upTo: Self.responseLimit)
      // Apple documents 200 to 206 as success.
      let isSuccess = (200...206).contains(response.status.code)
      return (isSuccess ? .success : .unsuccessfulHTTPResponseCode, Array(responseBody.readableBytesView))
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
