package import AppStore
internal import JSON

/// Sends HTTP requests: over the network, or within a test.
package protocol HTTPExchange: Sendable {
  /// Sends a request and reads the whole response, without following redirects. `timeout` covers connecting,
  /// sending and reading; `limit` is the maximum size of the response body in bytes.
  ///
  /// - Throws: ``HTTPExchangeError``. A response with an error status is no error.
  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse
}

/// An HTTP request with its whole body.
package struct OutgoingRequest: Sendable {
  /// In upper case, such as `POST`.
  package let method: String
  /// Absolute, with scheme and host.
  package let url: String
  /// In the order of transmission; the exchange adds those of the connection.
  package let headers: [(name: String, value: String)]
  /// Empty for a request without a body.
  package let body: [UInt8]

  package init(method: String, url: String, headers: [(name: String, value: String)], body: [UInt8]) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// An HTTP response with its whole body.
package struct IncomingResponse: Sendable {
  /// 100 to 599.
  package let status: Int
  /// The header fields; names are in lower case.
  package let headers: [(name: String, value: String)]
  /// At most as large as the limit of the call.
  package let body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the value of the first header field of that name, which must be in lower case; `nil` without the field.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The reason why a request got no response.
package enum HTTPExchangeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The time limit for the whole exchange passed.
  case timedOut
  /// The task was cancelled.
  case cancelled
  /// The response body is larger than the limit.
  case tooLarge
  /// The connection could not be opened, or broke.
  case unreachable(String)

  package var description: String {
    switch self {
    case .timedOut: "timed out"
    case .cancelled: "cancelled"
    case .tooLarge: "response too large"
    case .unreachable(let problem): problem
    }
  }
}

// Helpers for the responses of Apple's servers.
extension IncomingResponse {
  /// Parses the body as a JSON object.
  ///
  /// - Throws: ``AppStoreClientError/notJSON(status:problem:)``.
  func object() throws(AppStoreClientError) -> JSONObject {
    guard !body.isEmpty else { throw .notJSON(status: status, problem: "empty body") }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: body)
    } catch {
      let isMarkup = body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<")
      throw .notJSON(status: status, problem: isMarkup ? "an HTML page" : "\(error)")
    }
    guard case .object(let object) = value else {
      throw .notJSON(status: status, problem: "not a JSON object")
    }
    return object
  }

  /// The error that the body carries in the form of the App Store Server API; `nil` if it carries none.
  var apiError: AppStoreClientError? {
    guard let json = try? object(), let payload = try? ErrorPayload(json: json),
      let code = payload.errorCode
    else { return nil }
    return .refused(APIErrorCode(rawValue: code), message: payload.errorMessage ?? "")
  }

  /// The delay in `Retry-After`: the App Store writes UNIX time in milliseconds (App Store Server API,
  /// RateLimitExceededError); a small number is a delay in seconds, as proxies write it (RFC 9110, 10.2.3). At most an
  /// hour, in which Apple counts calls: a wrong number or a clock that was set back must not stop calls for years. `nil`
  /// without the field, or for a value that is no such number.
  package func retryAfter(now: Instant) -> Duration? {
    guard let text = header("retry-after"), let number = Int64(text), number >= 0 else { return nil }
    guard number > 1_000_000_000 else { return min(.seconds(number), Self.maxRetryAfter) }
    return min(.milliseconds(max(0, number - now.millisecondsSince1970)), Self.maxRetryAfter)
  }

  /// The seconds by which the clock with the time `now` is ahead of the server's; `nil` if they differ by a minute at most,
  /// or the response has no date. Apple rejects the tokens of a clock that is wrong.
  package func clockSkew(at now: Instant) -> Int64? {
    guard let date = header("date").flatMap(Instant.init(httpDate:)) else { return nil }
    let difference = now.milliseconds(since: date) / 1_000
    return abs(difference) > 60 ? difference : nil
  }

  /// A longer `Retry-After` is shortened, so that a wrong one cannot stop calls for a day.
  private static let maxRetryAfter = Duration.seconds(3_600)
}

extension Instant {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7); `nil` for other forms.
  package init?(httpDate text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT",
      let month = Self.months.firstIndex(of: String(parts[2])), parts[1].count == 2, parts[3].count == 4
    else { return nil }
    let number = String(month + 1)
    let padded = number.count == 1 ? "0" + number : number
    self.init(rfc3339: "\(parts[3])-\(padded)-\(parts[1])T\(parts[4])Z")
  }
}
