internal import AppStore
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import Sandbox

/// Posts the sandbox's notifications over HTTP/1.1, as Apple does, to allowed targets only.
struct HTTPNotificationPoster: NotificationPoster {
  /// It is never released, because `HTTPClient` must not be released while connections are open. It follows no
  /// redirects, because each target has to be allowed.
  private static let client = {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    // A refused connection fails at once; the sandbox has Apple's times for the next attempt.
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()
  private static let timeout = Duration.seconds(10)
  private static let responseLimit = 1 << 20
  private static let maxRedirects = 5

  let targets: NotificationTargets

  func permits(_ url: String) -> Bool { URL(string: url).map(targets.permits) ?? false }

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    await withTaskGroup(of: ReceiverResponse.self) { group in
      group.addTask { await post(body, to: url) }
      // The client's own timeout ends with the header fields of a response, and its body might never end.
      group.addTask {
        try? await Task.sleep(for: Self.timeout)
        return ReceiverResponse(result: .timedOut)
      }
      defer { group.cancelAll() }
      return await group.next() ?? ReceiverResponse(result: .other)
    }
  }

  private func post(_ body: [UInt8], to url: String) async -> ReceiverResponse {
    guard var target = URL(string: url) else { return ReceiverResponse(result: .other) }
    var visited: Set<URL> = []
    do {
      while targets.permits(target) {
        guard visited.count <= Self.maxRedirects, visited.insert(target).inserted else {
          return ReceiverResponse(result: .circularRedirect)
        }
        let response = try await Self.client.execute(
          Self.request(body, to: target), timeout: TimeAmount(Self.timeout))
        let responseBody = try await response.body.collect(upTo: Self.responseLimit)
        if let next = Self.redirect(response, from: target) {
          target = next
          continue
        }
        // Apple documents 200 to 206 as success.
        let isSuccess = (200...206).contains(response.status.code)
        return ReceiverResponse(
          result: isSuccess ? .success : .unsuccessfulHTTPResponseCode, status: Int(response.status.code),
          body: Array(responseBody.readableBytesView))
      }
      return ReceiverResponse(result: .other)
    } catch is NIOTooManyBytesError {
      return ReceiverResponse(result: .invalidResponse)
    } catch let error as HTTPClientError {
      return ReceiverResponse(result: SendAttemptResult(error))
    } catch {
      return ReceiverResponse(result: .socketIssue)
    }
  }

  private static func request(_ body: [UInt8], to url: URL) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: url.absoluteString)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "entitled-sandbox")
    request.body = .bytes(ByteBuffer(bytes: body))
    return request
  }

  /// The URL to post to instead (RFC 9110, section 15.4); `nil` if the response is no redirect.
  private static func redirect(_ response: HTTPClientResponse, from url: URL) -> URL? {
    guard [301, 302, 307, 308].contains(response.status.code),
      let location = response.headers.first(name: "location")
    else { return nil }
    return URL(string: location, relativeTo: url)?.absoluteURL
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
