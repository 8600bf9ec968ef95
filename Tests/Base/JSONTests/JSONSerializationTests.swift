import JSON
import Testing

@Suite struct JSONSerializationTests {
  @Test(
    "What was parsed is written as it was",
    arguments: [
      "null", "true", "[]", "{}", "[1,2.50,-0,1E+2]", #"{"z":1,"a":{"b":[{}]}}"#,
      #""\"\\\b\t\n\f\r\u0001é😀/""#,
    ])
  func roundTrip(text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
  }

  @Test("Pretty output has a line per member")
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

  @Test("An object is edited in place, by name")
  func editing() {
    var object: JSONObject = ["a": 1, "b": 2]
    object["a"] = "x"
    object["c"] = nil
    object["d"] = true
    object["b"] = nil as JSONValue?
    #expect(object.text == #"{"a":"x","d":true}"#)
    #expect(JSONObject([("a", 1), ("a", 2)]).text == #"{"a":2}"#)
  }

  @Test("Only finite numbers can be written")
  func nonFinite() {
    #expect(JSONNumber(Double.infinity) == nil)
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(0.1)?.literal == "0.1")
  }
}
