internal import Bytes
internal import HTTP
internal import JSON
internal import RPC

/// The outcome of an inbox entry, as JSON in the inbox.
enum ForwardedOutcome: Sendable {
  /// The replica that appended the entry needs no response.
  case done
  /// The handler's reply, and the customers that it showed, for the audit entry of the call.
  case reply(Reply, shown: [String], subject: String)
  /// The status of the handler, with its details and metadata.
  case failure(Status)
  /// The response of an endpoint of the edge.
  case response(HTTPResponse)

  /// - Returns: `nil` for bytes that are not an encoded outcome.
  init?(decoding bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes, limits: Self.limits).objectValue else { return nil }
    let body = (object["body"]?.stringValue).flatMap { Base64.standard.decode($0) } ?? []
    switch object["kind"]?.stringValue {
    case "done": self = .done
    case "reply":
      var reply = Reply(body)
      reply.initialMetadata = HeaderFields(object["initial"]?.pairs ?? [])
      reply.trailingMetadata = HeaderFields(object["trailing"]?.pairs ?? [])
      self = .reply(
        reply, shown: object["shown"]?.texts ?? [], subject: object["subject"]?.stringValue ?? "")
    case "failure":
      guard let code = (object["code"]?.int64Value).flatMap({ StatusCode(rawValue: Int($0)) }) else {
        return nil
      }
      var status = Status(code, object["message"]?.stringValue ?? "", details: body)
      status.cause = object["cause"]?.stringValue ?? ""
      status.pushbackMilliseconds = object["pushback"]?.int64Value
      for field in Metadata(HeaderFields(object["initial"]?.pairs ?? [])).entries {
        status.initialMetadata.append(field.name, field.value)
      }
      for field in Metadata(HeaderFields(object["trailing"]?.pairs ?? [])).entries {
        status.trailingMetadata.append(field.name, field.value)
      }
      self = .failure(status)
    case "response":
      self = .response(
        HTTPResponse(
          status: Int(object["status"]?.int64Value ?? 500),
          headers: HeaderFields(object["headers"]?.pairs ?? []), body: body))
    default: return nil
    }
  }

  /// The outcome as JSON, with bytes in Base64.
  var encoded: [UInt8] {
    var object: JSONObject
    switch self {
    case .done: object = ["kind": "done"]
    case .reply(let reply, let shown, let subject):
      object = [
        "kind": "reply", "body": Self.text(reply.message), "initial": .pairs(reply.initialMetadata.strings),
        "trailing": .pairs(reply.trailingMetadata.strings), "shown": .array(shown.map(JSONValue.string)),
        "subject": .string(subject),
      ]
    case .failure(let status):
      object = [
        "kind": "failure", "code": .number(JSONNumber(Int64(status.code.rawValue))),
        "message": .string(status.message), "body": Self.text(status.details),
        "cause": .string(status.cause), "initial": .pairs(status.initialMetadata.fields.strings),
        "trailing": .pairs(status.trailingMetadata.fields.strings),
      ]
      object["pushback"] = status.pushbackMilliseconds.map { .number(JSONNumber($0)) }
    case .response(let response):
      object = [
        "kind": "response", "status": .number(JSONNumber(Int64(response.status))),
        "headers": .pairs(response.headers.strings), "body": Self.text(response.body),
      ]
    }
    return object.serialized()
  }

  /// Responses have at most some megabytes.
  private static let limits = JSONLimits(maximumBytes: 64 << 20)

  private static func text(_ bytes: [UInt8]) -> JSONValue { .string(Base64.standard.encode(bytes)) }
}
