import JSON
import Testing
import Wire

@Suite struct WireJSONTests {
  private func text(_ message: some WireMessage) -> String { String(decoding: message.json(), as: UTF8.self) }

  private func read<Message: WireMessage>(_ type: Message.Type, _ text: String) throws -> Message {
    try Message(json: Array(text.utf8))
  }

  @Test("Field names in both spellings and enums by name or number are accepted")
  func names() throws {
    let expected = CheckRequest.with { ($0.customerId, $0.environment) = ("c", .sandbox) }
    #expect(
      try read(CheckRequest.self, #"{"customerId":"c","environment":"ENVIRONMENT_SANDBOX"}"#) == expected)
    #expect(try read(CheckRequest.self, #"{"customer_id":"c","environment":2,"app":null}"#) == expected)
  }

  @Test("Defaults are included, unset messages are not, 64-bit integers are strings")
  func printing() {
    let money = Money.with { ($0.milliunits, $0.currency) = (9_007_199_254_740_993, "USD") }
    #expect(text(money) == #"{"milliunits":"9007199254740993","currency":"USD"}"#)
    #expect(
      text(CheckRequest())
        == #"{"app":"","customerId":"","entitlement":"","environment":"ENVIRONMENT_UNSPECIFIED"}"#)
    let answer = Entitlement().jsonValue.objectValue
    #expect(answer?["entitled"] == false)
    #expect(answer?["until"] == nil)
    #expect(answer?["advice"] == [])
    #expect(answer?["willRenew"] == nil)
    #expect(Entitlement.with { $0.willRenew = false }.jsonValue.objectValue?["willRenew"] == false)
    #expect(text(CheckRequest.with { $0.environment = .unrecognized(9) }).hasSuffix(#""environment":9}"#))
  }

  @Test(
    "Integers are numbers or strings within the range of the field",
    arguments: [
      ("1", 1), ("\"-1\"", -1), ("1.0", 1), ("1e2", 100), ("2147483647", .max), ("2147483648", nil),
      ("1.5", nil),
      ("\"x\"", nil), ("true", nil), ("\"\"", nil),
    ] as [(String, Int32?)])
  func integers(literal: String, expected: Int32?) throws {
    let json = "{\"pageSize\":\(literal)}"
    if let expected {
      #expect(try read(ListTimelineRequest.self, json).pageSize == expected)
    } else {
      let error = WireError.invalidValue(
        field: "pageSize", expected: "an integer from -2147483648 to 2147483647")
      #expect(throws: error) { try read(ListTimelineRequest.self, json) }
    }
  }

  @Test(
    "Doubles accept NaN, Infinity and -Infinity as strings",
    arguments: [
      ("0.5", 0.5), ("\"0.5\"", 0.5), ("\"Infinity\"", .infinity), ("\"-Infinity\"", -.infinity),
    ] as [(String, Double)])
  func doubles(literal: String, expected: Double) throws {
    let member = try read(ProbableFamilyMember.self, "{\"confidence\":\(literal)}")
    #expect(member.confidence == expected)
    #expect(try ProbableFamilyMember(json: member.json()).confidence == expected)
    #expect(try read(ProbableFamilyMember.self, #"{"confidence":"NaN"}"#).confidence.isNaN)
    #expect(throws: WireError.self) { try read(ProbableFamilyMember.self, #"{"confidence":1e999}"#) }
  }

  @Test("A field mask is one string of names in lowerCamelCase")
  func fieldMask() throws {
    let request = try read(GetCustomerRequest.self, #"{"readMask":"entitlements,consumptionConsent"}"#)
    #expect(request.readMask?.paths == ["entitlements", "consumption_consent"])
    #expect(text(request).contains(#""readMask":"entitlements,consumptionConsent""#))
    #expect(try read(GetCustomerRequest.self, #"{"readMask":""}"#).readMask?.paths == [])
    for invalid in [#""a,""#, #""token_conflicts""#, "[]", "1"] {
      #expect(throws: WireError.self) { try read(GetCustomerRequest.self, "{\"readMask\":\(invalid)}") }
    }
  }

  @Test("Bytes are Base64 in either alphabet, padded or not", arguments: ["+/8=", "-_8=", "+/8", "-_8"])
  func base64(literal: String) throws {
    let request = try read(InspectRequest.self, "{\"rawDocument\":\"\(literal)\"}")
    #expect(request.content == .rawDocument([0xFB, 0xFF]))
    #expect(text(request).contains(#""rawDocument":"+/8=""#))
  }

  @Test(
    "Timestamps are RFC 3339",
    arguments: [
      ("1970-01-01T00:00:00Z", 0, 0, "1970-01-01T00:00:00Z"),
      ("2024-02-29T23:59:59.5+01:30", 1_709_245_799, 500_000_000, "2024-02-29T22:29:59.500Z"),
      ("0001-01-01T00:00:00Z", -62_135_596_800, 0, "0001-01-01T00:00:00Z"),
      ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
      ("1969-12-31T23:59:59.000001Z", -1, 1000, "1969-12-31T23:59:59.000001Z"),
    ] as [(String, Int64, Int32, String)])
  func timestamps(literal: String, seconds: Int64, nanos: Int32, printed: String) throws {
    let time = try read(GoogleProtobuf.Timestamp.self, "\"\(literal)\"")
    #expect(time.seconds == seconds && time.nanos == nanos)
    #expect(text(time) == "\"\(printed)\"")
  }

  @Test(
    "An invalid timestamp is rejected",
    arguments: [
      "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z",
      "2026-01-01T00:00:00",
      "0001-01-01T00:00:00+00:01", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z", "",
    ])
  func badTimes(literal: String) {
    let error = WireError.invalidValue(field: "asOf", expected: "a time such as \"2026-01-01T00:00:00Z\"")
    #expect(throws: error) { try read(ExplainRequest.self, "{\"asOf\":\"\(literal)\"}") }
  }

  @Test(
    "Durations are seconds with the suffix s",
    arguments: [
      ("0s", 0, 0), ("1.5s", 1, 500_000_000), ("-0.000000001s", 0, -1), ("-3s", -3, 0),
    ] as [(String, Int64, Int32)])
  func durations(literal: String, seconds: Int64, nanos: Int32) throws {
    let duration = try read(GoogleProtobuf.Duration.self, "\"\(literal)\"")
    #expect(duration.seconds == seconds && duration.nanos == nanos)
    #expect(try GoogleProtobuf.Duration(json: duration.json()) == duration)
    #expect(throws: WireError.self) { try read(GoogleProtobuf.Duration.self, "\"1.5\"") }
  }

  @Test(
    "A decoding error names the path of the field",
    arguments: [
      (#"{"checks":[{},{"custumer":1}]}"#, .unknownField("checks[1].custumer")),
      (#"{"checks":[{"app":1}]}"#, .invalidValue(field: "checks[0].app", expected: "a string, not a number")),
      (#"{"checks":[{"app":"\u0000"}]}"#, .embeddedNUL(field: "checks[0].app")),
      (#"{"checks":{}}"#, .invalidValue(field: "checks", expected: "an array, not an object")),
      (#"{"checks":[null]}"#, .invalidValue(field: "checks[0]", expected: "an object, not null")),
      ("[]", .invalidValue(field: "", expected: "an object, not an array")),
      ("{", .notJSON(.unexpectedEnd)),
      (
        #"{"checks":[{"customerId":"a","customer_id":"b"}]}"#, .duplicateField("checks[0].customer_id")
      ),
      (
        #"{"checks":[{"environment":"SANDBOX"}]}"#,
        .invalidValue(field: "checks[0].environment", expected: "a name of entitled.v1.Environment")
      ),
    ] as [(String, WireError)])
  func refusals(json: String, error: WireError) {
    #expect(throws: error) { try read(BatchCheckRequest.self, json) }
  }

  @Test("Two members of a oneof are rejected")
  func oneofs() throws {
    let one = try read(SubmitReceiptRequest.self, #"{"receiptBase64":"","receiptBytes":null}"#)
    #expect(one.receipt == .receiptBase64(""))
    #expect(text(one).contains(#""receiptBase64":"""#) && !text(one).contains("receiptBytes"))
    let expected = "left out, because an alternative to it is set"
    #expect(throws: WireError.invalidValue(field: "receiptBytes", expected: expected)) {
      try read(SubmitReceiptRequest.self, #"{"receiptBase64":"","receiptBytes":"AA=="}"#)
    }
  }

  @Test("The JSON of a status contains its details under their type names")
  func status() throws {
    let status = GoogleRPC.Status.with {
      ($0.code, $0.message) = (3, "no")
      $0.details = [
        .init(
          packing: GoogleRPC.ErrorInfo.with {
            ($0.reason, $0.domain) = ("EXPIRED", "entitled")
            $0.metadata = [.with { ($0.key, $0.value) = ("field", "app") }]
          }),
        .init(packing: GoogleProtobuf.Duration.with { $0.seconds = 2 }),
        .with { ($0.typeUrl, $0.value) = ("type.googleapis.com/x.Y", [1]) },
      ]
    }
    let details = [
      #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"EXPIRED","domain":"entitled","#
        + #""metadata":{"field":"app"}}"#,
      #"{"@type":"type.googleapis.com/google.protobuf.Duration","value":"2s"}"#,
      #"{"@type":"type.googleapis.com/x.Y","value":"AQ=="}"#,
    ].joined(separator: ",")
    #expect(text(status) == #"{"code":3,"message":"no","details":["# + details + "]}")
    var known = status
    known.details.removeLast()
    #expect(try GoogleRPC.Status(json: known.json()) == known)
  }
}
