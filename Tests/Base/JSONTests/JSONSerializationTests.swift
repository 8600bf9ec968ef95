import JSON
import TestSupport
import Testing

@Suite struct JSONSerializationTests {
  @Test(
    "Serialization preserves a parsed text",
    arguments: [
      "null", "true", "[]", "{}", "[1,2.50,-0,1E+2]", #"{"z":1,"a":{"b":[{}]}}"#,
      #""\"\\\b\t\n\f\r\u0001é😀/""#,
    ])
  func roundTrip(text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
  }

  @Test("Pretty output has one line per member")
  func pretty() {
    let value: JSONValue = ["a": [1, "b"], "c": [:], "d": []]
    let expected = """
      {
        "a": [
          1,
          "b"
        ],
        "c": {},
        "d": []
      }
      """
    #expect(String(decoding: value.serialized(pretty: true), as: UTF8.self) == expected)
  }

  @Test("A text for people is indented, unless that would make it many times as long")
  func display() throws {
    let value: JSONValue = ["data": ["tiers": [["price": 1]]]]
    #expect(value.displayText == String(decoding: value.serialized(pretty: true), as: UTF8.self))
    let numbers = Array(repeating: "0", count: 1_000).joined(separator: ",")
    for depth in 1...63 {
      let text = String(repeating: "[", count: depth) + numbers + String(repeating: "]", count: depth)
      let displayed = try JSONValue(parsing: text).displayText
      #expect(displayed.utf8.count < 10 * text.utf8.count)
      #expect(displayed.contains("\n") == (depth <= 8), "\(depth)")
    }
  }

  @Test("Setting a member replaces it in place")
  func editing() {
    var object: JSONObject = ["a": 1, "b": 2]
    object["a"] = "x"
    object["c"] = nil
    object["d"] = true
    object["b"] = nil as JSONValue?
    #expect(object.text == #"{"a":"x","d":true}"#)
    #expect(JSONObject([("a", 1), ("a", 2)]).text == #"{"a":2}"#)
  }

  @Test("An object of very many members takes linear time")
  func manyMembers() {
    func members(_ count: Int) -> [(String, JSONValue)] {
      (0..<count).map { ("m\($0)", JSONValue(Int64($0))) }
    }
    #expect(Growth.ofEightfold(1_000, prepare: members) { _ = JSONObject($0) } < Growth.bound)
    let object = JSONObject(members(100) + [("m7", "last"), ("é", 1), ("e\u{301}", 2)])
    #expect(object.count == 102 && object["m7"] == "last")
    #expect(object["é"] == 1 && object["e\u{301}"] == 2, "names are equal if their bytes are")
  }

  @Test("Infinity and NaN have no JSON number")
  func nonFinite() {
    #expect(JSONNumber(Double.infinity) == nil)
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(0.1)?.literal == "0.1")
  }
}
