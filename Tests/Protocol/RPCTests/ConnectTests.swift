import Bytes
import HTTP
import JSON
import Platform
import RPC
import Testing
import Wire

@Suite("Connect")
struct ConnectTests {
  private func request(
    _ fields: [(name: String, value: String)], body: [UInt8] = Array("{}".utf8)
  ) throws -> ConnectRequest {
    let type = [(name: "content-type", value: "application/json")]
    return try ConnectRequest(
      HTTPRequest(method: "POST", target: "/s/m", headers: HeaderFields(type + fields), body: body))
  }

  private func get(_ query: String) throws -> ConnectRequest {
    try ConnectRequest(HTTPRequest(method: "GET", target: "/s/m?\(query)"))
  }

  @Test(
    "A timeout has one to ten digits of milliseconds",
    arguments: [("1", 1_000_000), ("0", 0), ("9999999999", 9_999_999_999_000_000)] as [(String, Int64)])
  func timeout(text: String, nanoseconds: Int64) throws {
    #expect(try request([("connect-timeout-ms", text)]).timeout?.nanoseconds == nanoseconds)
  }

  @Test("A malformed timeout is rejected", arguments: ["", "+1", "-1", "1.0", "12345678901", "1m", "１"])
  func malformedTimeout(text: String) {
    #expect(throws: ConnectRequest.Rejection.self) { try request([("connect-timeout-ms", text)]) }
  }

  @Test("A message in the query is text, base64url with or without padding, or gzip in base64url")
  func query() throws {
    let packed = Base64.url.encode(try #require(gzip(Array("{}".utf8))))
    for query in [
      "connect=v1&encoding=json&message=%7B%7D", "encoding=json&base64=1&message=e30",
      "encoding=json&base64=1&message=e30%3D", "message=\(packed)&encoding=json&base64=1&compression=gzip",
    ] {
      #expect(try get(query).message(limit: 10) == Array("{}".utf8))
    }
    #expect(throws: Status.self) { try get("encoding=proto&base64=1&message=e3").message(limit: 10) == [] }
    #expect(throws: Status.self) { try get("encoding=proto&base64=1&message=%2B%2B%2B").message(limit: 10) }
  }

  @Test("A message in the query has the bytes that are percent-encoded, as protobuf and gzip need")
  func binaryQuery() throws {
    #expect(try get("encoding=proto&message=%0A%FF%00").message(limit: 10) == [0x0A, 0xFF, 0])
    let packed = try #require(gzip(Array("{}".utf8))).map { "%" + Hex.encode([$0]) }.joined()
    #expect(
      try get("encoding=json&compression=gzip&message=\(packed)").message(limit: 10) == Array("{}".utf8))
  }

  @Test("A message that decompresses beyond the limit is RESOURCE_EXHAUSTED")
  func bomb() throws {
    let packed = try #require(gzip([UInt8](repeating: 0, count: 100_000)))
    let request = try request([("content-encoding", "gzip")], body: packed)
    #expect { try request.message(limit: 99_999) } throws: { ($0 as? Status)?.code == .resourceExhausted }
    #expect(try request.message(limit: 100_000).count == 100_000)
  }

  @Test("An error has code, message and details whose value is the message in Base64")
  func error() throws {
    let status = Status(.cancelled, reason: "GONE", "the caller left", metadata: [("app", "sea")])
    let response = HTTPResponse(connectError: status)
    #expect(response.status == 499)
    let error = try JSONValue(parsing: response.body).objectValue
    #expect(error?["code"] == "canceled")
    #expect(error?["message"] == "the caller left")
    let detail = error?["details"]?.arrayValue?.first?.objectValue
    #expect(detail?["type"] == "google.rpc.ErrorInfo")
    #expect(detail?["debug"]?.objectValue?["reason"] == "GONE")
    #expect(detail?["debug"]?.objectValue?["@type"] == nil)
    let value = try #require(Base64.standard.decodeLeniently(detail?["value"]?.stringValue ?? ""))
    #expect(try GoogleRPC.ErrorInfo.decode(value).metadata.first?.value == "sea")
  }

  @Test("Every code has the HTTP status and the name of the Connect protocol")
  func codes() {
    let expected: [(StatusCode, String, Int)] = [
      (.cancelled, "canceled", 499), (.unknown, "unknown", 500), (.invalidArgument, "invalid_argument", 400),
      (.deadlineExceeded, "deadline_exceeded", 504), (.notFound, "not_found", 404),
      (.alreadyExists, "already_exists", 409), (.permissionDenied, "permission_denied", 403),
      (.resourceExhausted, "resource_exhausted", 429), (.failedPrecondition, "failed_precondition", 400),
      (.aborted, "aborted", 409), (.outOfRange, "out_of_range", 400), (.unimplemented, "unimplemented", 501),
      (.internalError, "internal", 500), (.unavailable, "unavailable", 503), (.dataLoss, "data_loss", 500),
      (.unauthenticated, "unauthenticated", 401),
    ]
    for (code, name, httpStatus) in expected {
      #expect((code.connectName, code.httpStatus) == (name, httpStatus))
    }
  }

  @Test("Metadata becomes header fields; trailing fields have the prefix trailer-")
  func metadata() throws {
    var reply = Reply([1])
    reply.initialMetadata.append(name: "a", value: "1")
    reply.trailingMetadata.append(name: "b", value: "2")
    let response = HTTPResponse(connect: [1], reply, to: try request([]))
    #expect((response.headers["a"], response.headers["trailer-b"]) == ("1", "2"))
  }

  @Test(
    "A response is compressed if the client accepts gzip and it is large",
    arguments: [
      ("gzip", 2_000, true), ("br, GZIP ; q=0.1", 2_000, true), ("gzip;q=0", 2_000, false),
      ("gzip", 10, false),
    ])
  func compression(accepted: String, size: Int, isCompressed: Bool) throws {
    let bytes = [UInt8](repeating: 7, count: size)
    let response = HTTPResponse(connect: bytes, Reply([]), to: try request([("accept-encoding", accepted)]))
    #expect((response.headers["content-encoding"] == "gzip") == isCompressed)
    let body =
      isCompressed ? try response.body.withUnsafeBytes { try gunzip($0, limit: size) } : response.body
    #expect(body == bytes)
  }
}
