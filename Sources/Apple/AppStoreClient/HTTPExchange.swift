/// A request of HTTP that is to be sent.
package struct OutgoingRequest: Sendable {
  package let method: String
  package let url: String
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]

  /// A request by its parts.
  package init(method: String, url: String, headers: [(name: String, value: String)], body: [UInt8]) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// What came back.
package struct IncomingResponse: Sendable {
  package let status: Int
  /// The names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]

  /// An answer by its parts.
  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first field of that name, which is in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Why nothing came back.
package enum HTTPExchangeError: Error, Hashable, Sendable {
  case timedOut
  case cancelled
  case tooLarge
  /// No connection, or one that broke.
  case unreachable(String)
}

/// Sends requests: over the network, or in tests to wherever they want.
package protocol HTTPExchange: Sendable {
  /// - `timeout`: for all of it.
  /// - `limit`: the most bytes of the answer's body.
  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse
}
