import HTTP
import RPC
import Testing
import Wire

@Suite struct StatusTests {
  @Test("Every status code survives encoding", arguments: StatusCode.allCases)
  func codes(code: StatusCode) {
    let status = Status(code, code == .ok ? "" : "why")
    #expect(Status(fields: status.fields()) == status)
    #expect(Status(fields: status.trailersOnly) == status)
  }

  @Test(
    "A message is percent-encoded outside printable ASCII",
    arguments: [
      ("plain text", "plain text"), ("100 %", "100 %25"), ("line\nbreak", "line%0Abreak"),
      ("größer", "gr%C3%B6%C3%9Fer"), ("😀", "%F0%9F%98%80"),
    ])
  func message(text: String, encoded: String) {
    let fields = Status(.internalError, text).fields()
    #expect(fields["grpc-message"] == encoded)
    #expect(Status(fields: fields)?.message == text)
  }

  @Test("A malformed percent-encoding is left unchanged", arguments: ["%", "%4", "%zz", "a%2"])
  func badlyEncoded(text: String) {
    #expect(Status(fields: HeaderFields([("grpc-status", "2"), ("grpc-message", text)]))?.message == text)
  }

  @Test("Trailers without a status have none, and an unknown number is UNKNOWN")
  func missing() {
    #expect(Status(fields: HeaderFields([("x", "y")])) == nil)
    #expect(Status(fields: HeaderFields([("grpc-status", "99")]))?.code == .unknown)
  }

  @Test("An error repeats at most 200 characters of a caller's value")
  func excerpts() throws {
    let long = String(repeating: "a", count: 250)
    let status = Status(.notFound, reason: "UNKNOWN", "no grant \(long) here", metadata: [("grantId", long)])
    let excerpt = String(repeating: "a", count: 200) + "..."
    #expect(status.message == "no grant \(excerpt) here")
    let details = try GoogleRPC.Status.decode(status.details)
    let info = try #require(try details.details[0].unpacked(as: GoogleRPC.ErrorInfo.self))
    #expect(info.metadata.map(\.value) == [excerpt] && details.message == status.message)
    let unknown = Status(WireError.unknownField(long))
    #expect(unknown.message.count == 203 && unknown.field == excerpt)
    #expect("äöü".excerpt == "äöü")
    // One character for people, of any length.
    let marks = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(marks.excerpt.utf8.count == 1 + 199 * 2 + 3)
  }

  @Test("A status within its limit is complete; otherwise it loses details first, then a part of the message")
  func limit() {
    let status = Status(
      .notFound, String(repeating: "m", count: 900), details: [UInt8](repeating: 1, count: 900))
    #expect(status.fields(within: 10_000) { $0.trailersOnly } == status.trailersOnly)
    #expect(
      status.fields(within: 1_500) { $0.trailersOnly } == Status(.notFound, status.message).trailersOnly)
    #expect(
      status.fields(within: 700) { $0.trailersOnly } == Status(.notFound, status.message.excerpt).trailersOnly
    )
    #expect(status.fields(within: 100) { $0.trailersOnly } == nil)
  }

  @Test("Status details contain the reason, the field and the retry delay")
  func details() throws {
    let status = Status(
      .resourceExhausted, reason: "TOO_MUCH", "too much", metadata: [("limit", "5")], field: "name",
      retryAfterMilliseconds: 1_500)
    let read = try #require(Status(fields: status.fields()))
    let message = try GoogleRPC.Status.decode(read.details)
    #expect(message.code == 8)
    #expect(message.message == "too much")
    let info = try #require(try message.details[0].unpacked(as: GoogleRPC.ErrorInfo.self))
    #expect(info.reason == "TOO_MUCH")
    #expect(info.domain == "entitled")
    #expect(info.metadata.map(\.key) == ["limit"])
    let fields = try #require(try message.details[1].unpacked(as: GoogleRPC.BadRequest.self))
    #expect(fields.fieldViolations.map(\.field) == ["name"])
    let retry = try #require(try message.details[2].unpacked(as: GoogleRPC.RetryInfo.self))
    #expect(retry.retryDelay?.seconds == 1)
    #expect(retry.retryDelay?.nanos == 500_000_000)
  }

  @Test(
    "The retry delay is pushback too, not zero and within 32 bits, also if the details are too large",
    arguments: [(0, "1"), (1_500, "1500"), (Int64.max, "2147483647"), (Status.noRetries, "-1")])
  func pushback(delay: Int64, expected: String) throws {
    let status = Status(.unavailable, reason: "LATER", "later", retryAfterMilliseconds: delay)
    #expect(status.fields()["grpc-retry-pushback-ms"] == expected)
    #expect(Status(fields: status.fields())?.pushbackMilliseconds == Int64(expected))
    let limited = status.fields(within: status.trailersOnly.sizeInBytes - 1) { $0.trailersOnly }
    #expect(limited?["grpc-status-details-bin"] == nil && limited?["grpc-retry-pushback-ms"] == expected)
    #expect(Status(.unavailable, reason: "NEVER", "no").fields()["grpc-retry-pushback-ms"] == nil)
  }
}
