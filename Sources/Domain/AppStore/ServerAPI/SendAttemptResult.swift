/// How an attempt to deliver a notification went (Apple's `sendAttemptResult`).
package enum SendAttemptResult: OpenCode {
  case success, timedOut, tlsIssue, circularRedirect, noResponse, socketIssue, unsupportedCharset
  case invalidResponse, prematureClose, unsuccessfulHTTPResponseCode, other
  case unrecognized(String)

  package static let known: [SendAttemptResult] = [
    .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset,
    .invalidResponse, .prematureClose, .unsuccessfulHTTPResponseCode, .other,
  ]

  package var rawValue: String {
    switch self {
    case .success: "SUCCESS"
    case .timedOut: "TIMED_OUT"
    case .tlsIssue: "TLS_ISSUE"
    case .circularRedirect: "CIRCULAR_REDIRECT"
    case .noResponse: "NO_RESPONSE"
    case .socketIssue: "SOCKET_ISSUE"
    case .unsupportedCharset: "UNSUPPORTED_CHARSET"
    case .invalidResponse: "INVALID_RESPONSE"
    case .prematureClose: "PREMATURE_CLOSE"
    case .unsuccessfulHTTPResponseCode: "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case .other: "OTHER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
