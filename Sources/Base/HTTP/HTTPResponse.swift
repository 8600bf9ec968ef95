/// What the edge answers.
package struct HTTPResponse: Sendable {
  /// Stands for no answer at all: a connection of HTTP/1.1 is closed instead (nginx has it by the same number).
  package static let noResponseStatus = 444

  /// 100 to 599.
  package var status: Int
  package var headers: HeaderFields
  package var body: [UInt8]

  package init(status: Int, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer in JSON; `body` is the document.
  package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "application/json")]), body: body)
  }

  /// An answer for a person's eyes.
  package static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "text/plain; charset=utf-8")]),
      body: Array(text.utf8))
  }

  /// The answer to a method that this path does not have (RFC 9110, section 15.5.6).
  package static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
    var response = HTTPResponse.text(405, "method not allowed; use \(allowed)\n")
    response.headers.append(name: "allow", value: allowed)
    return response
  }
}

/// What answers requests at the edge. It never fails: an error is an answer with its status.
package typealias HTTPHandler = @Sendable (HTTPRequest) async -> HTTPResponse
