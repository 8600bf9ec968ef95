/// An HTTP request with its whole body, and the limits of its response.
package struct CurlRequest: Sendable {
  /// In upper case, such as `POST`.
  package let method: String
  /// Absolute, with the scheme `http` or `https`.
  package let url: String
  /// In the order of transmission; libcurl adds those of the connection only.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]
  /// The time for the whole exchange: connecting, sending and reading.
  package let timeout: Duration
  /// The maximum size of the response body in bytes.
  package let responseLimit: Int

  package init(
    method: String, url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration,
    responseLimit: Int
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.responseLimit = responseLimit
  }
}

/// An HTTP response with its whole body.
package struct CurlResponse: Sendable {
  /// The HTTP status of the response.
  package let status: Int
  /// In the order of arrival; names are in lower case. Fields after the body are left out.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]
}

/// The reason why a request got no response.
package enum CurlError: Error, Hashable, Sendable {
  /// The time limit for the whole exchange, with the body, passed.
  case timedOut
  /// The task was cancelled.
  case cancelled
  /// The response body is larger than the limit.
  case tooLarge
  /// No connection could be opened.
  case unreachable(String)
  /// No TLS session could be opened, for example because the certificate is not trusted.
  case tls(String)
  /// The connection ended before the response did.
  case closed(String)
  /// Any other error, such as an invalid URL.
  case failed(String)
}
