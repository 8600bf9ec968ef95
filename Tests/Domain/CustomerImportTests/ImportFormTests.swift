import AppStore
import CustomerImport
import Testing

/// Separated values and times.
@Suite struct ImportFormTests {
  @Test("Quotes protect separators, quotes and line ends, and empty lines do not count")
  func separatedValues() {
    let table = SeparatedValues(Array("\u{FEFF}a;b\r\n\"1;\"\"x\"\"\ny\";2\r\n\r\n3;\n".utf8))
    #expect(table.header == ["a", "b"])
    #expect(table.lines.map(\.fields) == [["1;\"x\"\ny", "2"], ["3", ""]])
    #expect(table.lines.map(\.number) == [2, 5])
    #expect(SeparatedValues(Array("a,b\n1,2".utf8)).header == ["a", "b"])
    #expect(SeparatedValues(Array("\u{FEFF}\"a\",\"b\"\n1,2".utf8)).header == ["a", "b"])
    #expect(SeparatedValues([]).lines.isEmpty)
    let oldLineEnds = SeparatedValues(Array("a;b\r1;2\r3;4\r".utf8))
    #expect(oldLineEnds.header == ["a", "b"])
    #expect(oldLineEnds.lines.map(\.fields) == [["1", "2"], ["3", "4"]])
  }

  @Test(
    "A list has texts and numbers, as a JSON array, in brackets or without",
    arguments: [
      #"["a", 17, null, 12345678901234567890]"#, "{a,17,12345678901234567890}", "a, 17,12345678901234567890",
    ])
  func lists(_ text: String) throws {
    var mapping = ColumnMapping()
    mapping.columns = [.customerID: ["user"], .aliases: ["ids"]]
    let cell = "\"" + text.replacing("\"", with: "\"\"") + "\""
    let read = try mapping.rows(of: SeparatedValues(Array("user;ids\nann;\(cell)".utf8)))
    #expect(read.rows.map(\.aliases) == [["a", "17", "12345678901234567890"]])
  }

  @Test(
    "JSON in a column has doubled quotes, quotes with backslashes, or both",
    arguments: [
      #""{""$ip"":{""value"":""a;b""},""n"":{""value"":""q\""\\""}}""#,
      #""{\"$ip\": {\"value\": \"a;b\"}, \"n\": {\"value\": \"q\\\"\\\\\"}}""#,
      #""{\""$ip\"": {\""value\"": \""a;b\""}, \""n\"": {\""value\"": \""q\\\""\\\\\""}}""#,
    ])
  func quotedJSON(_ cell: String) throws {
    let header = "rc_original_app_user_id;custom_subscriber_attributes;entitlement_identifiers;store\n"
    let lists = [#""[\"pro\", \"plus\"]""#, #""[""pro"",""plus""]""#, #"["pro","plus"]"#]
    for list in lists {
      let text = header + "ann;\(cell);\(list);play_store\nbob;;;stripe\n"
      let read = try ColumnMapping.revenueCat.rows(of: SeparatedValues(Array(text.utf8)))
      #expect(read.unreadable.isEmpty && read.rows.map(\.store) == ["play_store", "stripe"])
      let ann = try #require(read.rows.first)
      #expect(
        ann.attributes.map(\.name) == ["rc:ip", "n"] && ann.attributes.map(\.value) == ["a;b", #"q"\"#])
      #expect(ann.entitlements == ["pro", "plus"] && ann.unreadableAttributes.isEmpty)
    }
  }

  @Test("The column of the environment has a known word, otherwise the line is left out")
  func sandbox() throws {
    var mapping = ColumnMapping()
    mapping.columns = [.customerID: ["user"], .sandbox: ["test"]]
    let words = { (words: String) in
      let lines = words.split(separator: " ").map { "ann;\($0)" }.joined(separator: "\n")
      return try mapping.rows(of: SeparatedValues(Array("user;test\n\(lines)".utf8)))
    }
    #expect(try words("true T yes Y 1 Sandbox").rows.map(\.isSandbox) == Array(repeating: true, count: 6))
    #expect(try words("false F no N 0 PRODUCTION").rows.map(\.isSandbox) == Array(repeating: false, count: 6))
    #expect(try words("null").rows.map(\.isSandbox) == [nil])
    let unknown = try words("test 2")
    #expect(unknown.rows.isEmpty && unknown.unreadable.map(\.reason) == [.malformedLine, .malformedLine])
    #expect(unknown.unreadable.first?.detail == "sandbox is neither true nor false: test")
  }

  @Test("A quote without an end is reported, also if the number of columns is right")
  func unclosedQuote() throws {
    let header = "rc_original_app_user_id;product_identifier\n"
    let read = try ColumnMapping.revenueCat.rows(
      of: SeparatedValues(Array((header + "a;p\nb;\"p\nc;p\nd;p\n").utf8)))
    #expect(read.rows.map(\.customerID) == ["a"])
    #expect(read.unreadable.map(\.line) == [3])
    #expect(read.unreadable.map(\.reason) == [.malformedLine])
    #expect(read.unreadable[0].detail.hasPrefix("a quoted field has no end"))
  }

  @Test(
    "Times of exports are read",
    arguments: [
      ("2023-01-01 08:27:06", "2023-01-01T08:27:06Z"),
      ("2023-01-01 08:27:06.5 UTC", "2023-01-01T08:27:06.5Z"),
      ("2023-01-01T08:27:06Z", "2023-01-01T08:27:06Z"), ("2023-01-01", "2023-01-01T00:00:00Z"),
      ("1672561626", "2023-01-01T08:27:06Z"), ("1672561626000", "2023-01-01T08:27:06Z"),
      ("2023-01-01 08:27:06+01:00", "2023-01-01T07:27:06Z"),
    ])
  func times(_ text: String, _ instant: String) {
    #expect(ImportTime.parse(text) == Instant(rfc3339: instant))
  }

  @Test("Other texts are no times", arguments: ["", "0", "tomorrow", "2023-13-01", "2023-01-01 25:00:00"])
  func noTimes(_ text: String) { #expect(ImportTime.parse(text) == nil) }
}
