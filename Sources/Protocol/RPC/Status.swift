/// The outcome of a call: a code for programs, a message for people, and details for both.
///
/// Handlers throw it; `.ok` is never thrown.
package struct Status: Error, Hashable, Sendable {
  /// The code, which the client acts upon.
  package var code: StatusCode
  /// The problem and its remedy, for people.
  package var message: String
  /// A serialized `google.rpc.Status`, sent as `grpc-status-details-bin`; empty for none.
  package var details: [UInt8]
  /// The delay after which gRPC's own retries of the client repeat the call, in milliseconds, sent as
  /// `grpc-retry-pushback-ms` (gRFC A6, "Pushback"); ``noRetries`` for none, `nil` leaves it to the client's policy.
  package var pushbackMilliseconds: Int64?
  /// The request id in the logs, sent as `x-request-id`; empty if the call is not traced.
  package var requestID = ""
  /// The handler's own fields in the response headers.
  package var initialMetadata = Metadata()
  /// The handler's own fields in the trailers.
  package var trailingMetadata = Metadata()
  /// The internal cause, which only the operator's log contains.
  package var cause = ""
  /// Whether the call certainly changed nothing, so that another server may execute it. Not sent.
  package var isWithoutEffect = false

  package init(_ code: StatusCode, _ message: String = "", details: [UInt8] = []) {
    self.code = code
    self.message = message
    self.details = details
  }

  /// The message and its internal cause, for the operator's log.
  package var internalMessage: String { cause.isEmpty ? message : "\(message): \(cause)" }

  /// The value of ``pushbackMilliseconds`` with which gRPC's own retries do not repeat the call.
  package static let noRetries: Int64 = -1
  /// Success; never thrown.
  package static let ok = Status(.ok)
  /// The request of a unary or server-streaming method has no message, or more than one.
  package static let oneMessageExpected = Status(
    .unimplemented, "this method takes exactly one request message")
}

extension Status: CustomStringConvertible {
  package var description: String { message.isEmpty ? code.name : "\(code.name): \(message)" }
}

/// The status codes of gRPC (gRPC documentation, "Status codes and their use in gRPC").
package enum StatusCode: Int, Hashable, Sendable, CaseIterable {
  /// The call succeeded.
  case ok = 0
  /// The caller cancelled the call.
  case cancelled = 1
  /// An error without a better code.
  case unknown = 2
  /// The request is wrong, whatever the state of the service.
  case invalidArgument = 3
  /// The caller's deadline passed; the call may have had its effect.
  case deadlineExceeded = 4
  /// Something that the request names does not exist.
  case notFound = 5
  /// The object that the request would create exists, or a key was used for another request.
  case alreadyExists = 6
  /// The caller is known and lacks a role, an app or a device.
  case permissionDenied = 7
  /// A rate limit or another limit is reached.
  case resourceExhausted = 8
  /// The state of the service does not allow the call; a repetition alone does not help.
  case failedPrecondition = 9
  /// Another call interfered; the caller should repeat what it did, not the call alone.
  case aborted = 10
  /// A position is beyond the end.
  case outOfRange = 11
  /// The method or the encoding is not supported.
  case unimplemented = 12
  /// An invariant of the service does not hold.
  case internalError = 13
  /// The service cannot answer now; a repetition may help.
  case unavailable = 14
  /// Data is lost and cannot be recovered.
  case dataLoss = 15
  /// The call has no valid credential.
  case unauthenticated = 16

  /// The name in gRPC's documentation and in JSON.
  package var name: String {
    switch self {
    case .ok: "OK"
    case .cancelled: "CANCELLED"
    case .unknown: "UNKNOWN"
    case .invalidArgument: "INVALID_ARGUMENT"
    case .deadlineExceeded: "DEADLINE_EXCEEDED"
    case .notFound: "NOT_FOUND"
    case .alreadyExists: "ALREADY_EXISTS"
    case .permissionDenied: "PERMISSION_DENIED"
    case .resourceExhausted: "RESOURCE_EXHAUSTED"
    case .failedPrecondition: "FAILED_PRECONDITION"
    case .aborted: "ABORTED"
    case .outOfRange: "OUT_OF_RANGE"
    case .unimplemented: "UNIMPLEMENTED"
    case .internalError: "INTERNAL"
    case .unavailable: "UNAVAILABLE"
    case .dataLoss: "DATA_LOSS"
    case .unauthenticated: "UNAUTHENTICATED"
    }
  }

  /// The HTTP status for calls as JSON over plain HTTP (google/rpc/code.proto).
  package var httpStatus: Int {
    switch self {
    case .ok: 200
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .unauthenticated: 401
    case .permissionDenied: 403
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .resourceExhausted: 429
    case .cancelled: 499
    case .unknown, .internalError, .dataLoss: 500
    case .unimplemented: 501
    case .unavailable: 503
    case .deadlineExceeded: 504
    }
  }
}
