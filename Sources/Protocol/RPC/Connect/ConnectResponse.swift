internal import Bytes
package import HTTP
internal import JSON
internal import Platform
internal import Wire

extension HTTPResponse {
  /// The response to a Connect request that succeeded. `message` is in the encoding of the request's codec; the trailing
  /// metadata of `reply` becomes header fields with the prefix `trailer-`.
  package init(connect message: [UInt8], _ reply: Reply, to request: ConnectRequest) {
    self.init(
      status: 200, headers: HeaderFields([("content-type", request.codec.contentType)]), body: message)
    append(reply.initialMetadata, reply.trailingMetadata)
    compress(for: request, reply.compression)
  }

  /// The Connect error of a status: `{"code", "message", "details"}` under the HTTP status of its code, or under
  /// `httpStatus`.
  package init(connectError status: Status, httpStatus: Int? = nil) {
    self = .json(httpStatus ?? status.code.httpStatus, status.connectJSON.serialized() + [UInt8(ascii: "\n")])
    append(status.initialMetadata.fields, status.trailingMetadata.fields)
    if !status.requestID.isEmpty { headers.append(name: Status.requestIDField, value: status.requestID) }
    if let seconds = status.retrySeconds { headers.append(name: "retry-after", value: String(seconds)) }
    // RFC 9110, section 15.5.2, requires a challenge.
    if status.code == .unauthenticated { headers.append(name: "www-authenticate", value: "Bearer") }
  }

  /// The response to a request whose codec is not supported.
  package static func unsupportedConnectCodec(_ status: Status) -> HTTPResponse {
    var response = HTTPResponse(connectError: status, httpStatus: 415)
    response.headers.append(name: "accept-post", value: ConnectCodec.contentTypes)
    return response
  }

  private mutating func append(_ initial: HeaderFields, _ trailing: HeaderFields) {
    for field in initial.strings { headers.append(name: field.name, value: field.value) }
    for field in trailing.strings {
      // The request id describes the response, so clients look for it among the header fields.
      let name = field.name == Status.requestIDField ? field.name : "trailer-" + field.name
      headers.append(name: name, value: field.value)
    }
  }

  private mutating func compress(for request: ConnectRequest, _ compression: MessageCompression) {
    headers.append(name: "vary", value: "accept-encoding")
    guard request.acceptsGzip, compression != .never, body.count >= Self.minCompressedBytes,
      let compressed = gzip(body)
    else { return }
    body = compressed
    headers.append(name: "content-encoding", value: "gzip")
  }

  /// Shorter messages fit into one packet anyway.
  private static let minCompressedBytes = 1_024
}

extension StatusCode {
  /// The name in a Connect error.
  package var connectName: String {
    // Connect spells it with one l.
    self == .cancelled ? "canceled" : name.lowercased()
  }
}

extension Status {
  /// The Connect error (connectrpc.com, "Connect protocol"): `debug` of a detail is its JSON form, for people.
  fileprivate var connectJSON: JSONObject {
    var error: JSONObject = ["code": .string(code.connectName)]
    if !message.isEmpty { error["message"] = .string(message) }
    let packed = (try? GoogleRPC.Status.decode(details))?.details ?? []
    if !packed.isEmpty { error["details"] = .array(packed.map { .object($0.connectDetail) }) }
    return error
  }
}

extension GoogleProtobuf.AnyMessage {
  fileprivate var connectDetail: JSONObject {
    var detail: JSONObject = [
      "type": .string(typeName), "value": .string(Base64.standard.encode(value, padded: false)),
    ]
    if var debug = jsonValue.objectValue {
      debug["@type"] = nil as JSONValue?
      detail["debug"] = .object(debug)
    }
    return detail
  }
}
