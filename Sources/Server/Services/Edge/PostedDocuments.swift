internal import HTTP
internal import JSON

// Documents that other systems post to the edge without a bearer token: Apple's notifications and requests, and events of
// RevenueCat.
extension HTTPRequest {
  /// Returns the response to a request that posts no JSON, or more than `limit` bytes; `nil` if it is well-formed. A
  /// sender without a content type is accepted.
  func refusalOfDocument(limit: Int) -> HTTPResponse? {
    guard method == "POST" else { return .methodNotAllowed("POST") }
    guard mediaType ?? "application/json" == "application/json" else {
      return .explained(415, "UNSUPPORTED_MEDIA_TYPE", "content-type must be application/json")
    }
    guard body.count <= limit else {
      return .explained(413, "TOO_LARGE", "the body has more than \(limit) bytes")
    }
    return nil
  }
}

extension HTTPResponse {
  /// Returns a response with a stable reason for programs and an explanation for people.
  static func explained(_ status: Int, _ reason: String, _ explanation: String) -> HTTPResponse {
    let body: JSONObject = ["reason": .string(reason), "explanation": .string(explanation)]
    return .json(status, JSONValue.object(body).serialized())
  }

  /// The reason of ``notStored(retryAfterSeconds:)``.
  static let notStoredReason = "TRY_AGAIN"

  /// Returns the response to a document that cannot be stored now, so that its sender repeats it.
  static func notStored(retryAfterSeconds seconds: Int64?) -> HTTPResponse {
    let response = explained(503, notStoredReason, "it could not be stored now; please send it again")
    return seconds.map(response.retry(afterSeconds:)) ?? response
  }

  /// Returns this response with the number of seconds after which the sender may repeat the request.
  func retry(afterSeconds seconds: Int64) -> HTTPResponse {
    var response = self
    response.headers.append(name: "retry-after", value: String(seconds))
    return response
  }

  /// Returns this response with a delay in milliseconds, rounded up to seconds.
  func retry(afterMilliseconds milliseconds: Int64) -> HTTPResponse {
    retry(afterSeconds: (milliseconds + 999) / 1_000)
  }
}
