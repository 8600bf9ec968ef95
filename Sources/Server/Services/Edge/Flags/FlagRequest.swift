internal import AppStore
internal import HTTP
internal import JSON
internal import RPC
internal import Wire

/// The evaluation context of an OFREP request: the customer, and the app and environment if it names them.
struct FlagRequest: Sendable {
  /// `targetingKey`; not empty, and within the limit of the contract's texts.
  let customerID: String
  /// The configured name of the app; `nil` if the context does not name one.
  var appID: String?
  /// `nil`: the app's first one.
  let environment: AppStore.Environment?

  /// Parses the body. Members of the context that the service does not define are ignored: they may be for other flags.
  ///
  /// - Throws: ``FlagError`` with the code that the protocol has for the problem.
  init(_ body: [UInt8]) throws(FlagError) {
    let content: JSONValue
    do throws(JSONError) {
      content = try JSONValue(parsing: body, limits: .ofRequests, duplicates: .rejected)
    } catch {
      throw FlagError(.parseError, "the body is not JSON: \(error)")
    }
    guard let members = content.objectValue else {
      throw FlagError(.parseError, "the body is \(content.kind), not an object")
    }
    let context = members["context"] ?? .null
    guard context.objectValue != nil || context.isNull else {
      throw FlagError(.invalidContext, "context is \(context.kind), not an object")
    }
    guard let customerID = try Self.text("targetingKey", of: context) else {
      throw FlagError(.targetingKeyMissing, "the context has no targetingKey, which is the customer id")
    }
    self.customerID = customerID
    appID = try Self.text("app", of: context)
    environment = try Self.text("environment", of: context).map { name throws(FlagError) in
      guard let environment = AppStore.Environment(rawValue: name) else {
        throw FlagError(.invalidContext, "unknown environment '\(name.excerpt)'")
      }
      return environment
    }
  }

  /// A text of the context; `nil` if it is missing, null or empty.
  private static func text(_ name: String, of context: JSONValue) throws(FlagError) -> String? {
    guard let value = context.objectValue?[name], !value.isNull else { return nil }
    guard let text = value.stringValue else {
      throw FlagError(.invalidContext, "\(name) is \(value.kind), not a string")
    }
    guard text.utf8.count <= TextLimits.standard, !text.utf8.contains(0) else {
      throw FlagError(.invalidContext, "\(name) has more than \(TextLimits.standard) bytes, or a NUL")
    }
    return text.isEmpty ? nil : text
  }
}

/// An error of the OpenFeature Remote Evaluation Protocol.
struct FlagError: Error, Hashable, Sendable {
  /// The codes that the protocol defines.
  enum Code: String, Hashable, Sendable {
    case parseError = "PARSE_ERROR"
    case targetingKeyMissing = "TARGETING_KEY_MISSING"
    case invalidContext = "INVALID_CONTEXT"
    case flagNotFound = "FLAG_NOT_FOUND"
    case general = "GENERAL"
  }

  /// `errorCode` of the response.
  let code: Code
  /// `errorDetails` of the response, for people.
  let details: String
  /// The status with which the protocol returns the code.
  let httpStatus: Int
  /// The reason of the status that this error stands for.
  let reason: String?

  init(_ code: Code, _ details: String) {
    self.code = code
    self.details = details
    httpStatus = code == .flagNotFound ? 404 : 400
    reason = nil
  }

  /// The error of a status that does not concern the request's own form.
  init(_ status: Status) {
    reason = status.reason
    details = status.message
    switch reason {
    case "UNKNOWN_APP", "WRONG_ENVIRONMENT", "MISSING_FIELD":
      code = .invalidContext
      httpStatus = 400
    case "UNKNOWN_ENTITLEMENT":
      code = .flagNotFound
      httpStatus = 404
    default:
      code = .general
      httpStatus = status.code.httpStatus
    }
  }

  /// The members of an error, which for a single flag include its key.
  func json(_ key: String?) -> JSONObject {
    var json = JSONObject()
    if let key { json["key"] = .string(key) }
    json["errorCode"] = .string(code.rawValue)
    json["errorDetails"] = .string(details)
    if let reason { json["reason"] = .string(reason) }
    return json
  }
}
