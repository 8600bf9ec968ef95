import GRPCCore
import GRPCProtobuf

/// A call that failed, with everything that the service says about it.
public struct EntitledError: Error, Sendable, CustomStringConvertible {
  /// The gRPC status code.
  public var code: RPCError.Code
  /// A sentence for the developer.
  public var message: String
  /// The service's stable UPPER_SNAKE reason; empty if a proxy or the network failed.
  public var reason = ""
  /// Bad request fields with their descriptions.
  public var fields: [String: String] = [:]
  /// Details of the reason.
  public var metadata: [String: String] = [:]
  /// The time to wait before the next attempt, if the service names one.
  public var retryAfter: Duration?

  /// Whether the same call can succeed later without a change.
  public var isTransient: Bool {
    code == .unavailable || code == .resourceExhausted || code == .deadlineExceeded
  }

  /// Code, reason and message.
  public var description: String { reason.isEmpty ? "\(code): \(message)" : "\(code) \(reason): \(message)" }

  init(code: RPCError.Code, message: String) {
    self.code = code
    self.message = message
  }

  /// The error of a call of the generated clients.
  public init(_ error: RPCError) {
    self.init(code: error.code, message: error.message)
    for detail in (try? error.unpackGoogleRPCStatus())?.details ?? [] {
      if let info = detail.errorInfo {
        reason = info.reason
        metadata = info.metadata
      } else if let bad = detail.badRequest {
        for violation in bad.violations { fields[violation.field] = violation.violationDescription }
      } else if let retry = detail.retryInfo {
        retryAfter = retry.delay
      }
    }
  }

  static func wrapping<Value>(_ body: () async throws -> Value) async throws(EntitledError) -> Value {
    do {
      return try await body()
    } catch let error as RPCError {
      throw EntitledError(error)
    } catch is CancellationError {
      throw EntitledError(code: .cancelled, message: "the task was cancelled")
    } catch {
      throw EntitledError(code: .unknown, message: "\(error)")
    }
  }
}
