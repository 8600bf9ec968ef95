import JSON
import Testing

@Suite struct JSONParsingTests {
  @Test("Every kind of value is parsed")
  func kinds() throws {
    let value = try JSONValue(parsing: #" { "a": [1, -2.5e3, "x", true, false, null], "b": {} } "#)
    let array = try #require(value.objectValue?["a"]?.arrayValue)
    #expect(array[0] == 1 && array[2] == "x" && array[3] == true && array[4] == false && array[5].isNull)
    #expect(array[1].doubleValue == -2500)
    #expect(value.objectValue?["b"] == [:])
    #expect(value.objectValue?["c"] == nil)
  }

  @Test(
    "An integer is exact, or nil",
    arguments: [
      ("0", 0), ("-0", 0), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
      ("1.0", 1),
      ("1e3", 1000), ("1.5", nil), ("9223372036854775808", nil), ("1e300", nil), ("1e18", nil),
    ] as [(String, Int64?)])
  func integers(literal: String, expected: Int64?) throws {
    #expect(try JSONValue(parsing: literal).int64Value == expected)
  }

  @Test("Escapes are decoded")
  func escapes() throws {
    let value = try JSONValue(parsing: #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000""#)
    #expect(value.stringValue == "\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1F600}\0")
  }

  @Test(
    "Invalid JSON is rejected at the offset of the error",
    arguments: [
      ("", .unexpectedEnd), ("{\"a\":1", .unexpectedEnd), ("[1,]", .unexpectedByte(0x5D, offset: 3)),
      ("01", .trailingBytes(offset: 1)),
      ("-", .invalidNumber(offset: 0)), ("1.", .invalidNumber(offset: 0)),
      ("\"\\x\"", .invalidEscape(offset: 1)),
      ("\"\\ud800\"", .unexpectedByte(0x22, offset: 7)), ("\"\\udc00\"", .invalidEscape(offset: 1)),
      ("\"\n\"", .controlCharacter(offset: 1)), ("nul", .unexpectedEnd),
      ("\u{FEFF}1", .unexpectedByte(0xEF, offset: 0)),
    ] as [(String, JSONError)])
  func refusals(text: String, error: JSONError) {
    #expect(throws: error) { try JSONValue(parsing: text) }
  }

  @Test("A string that is not UTF-8 is rejected")
  func invalidUTF8() {
    #expect(throws: JSONError.invalidUTF8(offset: 1)) { try JSONValue(parsing: [0x22, 0xC0, 0xAF, 0x22]) }
  }

  @Test("The last of two duplicate members wins at the first one's position, or the text is rejected")
  func duplicates() throws {
    for others in [0, 100] {
      let names = (0..<others).map { ",\"n\($0)\":0" }.joined()
      let text = "{\"a\":1\(names),\"a\":2,\"a\":3}"
      let object = try #require(JSONValue(parsing: text).objectValue)
      #expect(object.count == others + 1)
      #expect(object.map(\.name).first == "a" && object["a"] == 3)
      #expect(throws: JSONError.duplicateName(offset: 7 + names.utf8.count)) {
        try JSONValue(parsing: text, duplicates: .rejected)
      }
    }
  }

  @Test(
    "Names that are only canonically equivalent stay distinct",
    arguments: [("\u{e9}", "e\u{301}"), ("\u{212B}", "A\u{30A}")])
  func unicodeNames(one: String, other: String) throws {
    let text = "{\"\(one)\":1,\"\(other)\":2}"
    let object = try #require(JSONValue(parsing: text, duplicates: .rejected).objectValue)
    #expect(object[one] == 1 && object[other] == 2)
  }

  @Test("Nesting, size and number of values above the limits are rejected")
  func limits() throws {
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    _ = try JSONValue(parsing: deep)
    #expect(throws: JSONError.tooDeep(limit: 64, offset: 64)) { try JSONValue(parsing: "[\(deep)]") }
    #expect(throws: JSONError.tooDeep(limit: 64, offset: 64)) {
      try JSONValue(parsing: String(repeating: "[", count: 100_000))
    }
    #expect(throws: JSONError.tooLarge(limit: 3)) {
      try JSONValue(parsing: "1234", limits: JSONLimits(maximumBytes: 3))
    }
    let few = JSONLimits(maximumValues: 4)
    _ = try JSONValue(parsing: #"{"a":[1,{}]}"#, limits: few)
    #expect(throws: JSONError.tooManyValues(limit: 4)) { try JSONValue(parsing: "[1,{},2,3]", limits: few) }
  }
}
