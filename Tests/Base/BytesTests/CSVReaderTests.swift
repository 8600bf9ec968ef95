import Bytes
import Testing

@Suite struct CSVReaderTests {
  private func records(_ text: String, separator: Character = ",") -> [[String]] {
    var reader = CSVReader(Array(text.utf8)[...], separator: separator.asciiValue ?? 0)
    var records: [[String]] = []
    while let fields = reader.next() { records.append(fields.map { String(decoding: $0, as: UTF8.self) }) }
    return records
  }

  @Test("Quoted fields contain separators, line ends and doubled quotes")
  func quoted() {
    #expect(records("\"a,b\",\"c\r\nd\",\"e \"\"f\"\"\"\n") == [["a,b", "c\r\nd", "e \"f\""]])
    #expect(records("\"\",\"\"\"\",x\n") == [["", "\"", "x"]])
    #expect(records("\"a;b\";c,d", separator: ";") == [["a;b", "c,d"]])
  }

  @Test("JSON in quotes may have quotes with backslashes, if the reader accepts it")
  func escapedJSON() {
    let text = #""{\"a\": \"b,\\\\\"}","C:\","[ \"c\"]","{\""d\"":1}",e"#
    var reader = CSVReader(Array(text.utf8)[...], acceptsEscapedJSON: true)
    let fields = reader.next()?.map { String(decoding: $0, as: UTF8.self) }
    #expect(fields == [#"{\"a\": \"b,\\\\\"}"#, #"C:\"#, #"[ \"c\"]"#, #"{\"d\":1}"#, "e"])
    #expect(reader.next() == nil)
    #expect(records(#""{\","[\""",f"#) == [[#"{\"#, #"[\""#, "f"]])
  }

  @Test("A quote within an unquoted field is content and joins no lines")
  func strayQuote() {
    #expect(records("5\" nail,1\nb,2\n") == [["5\" nail", "1"], ["b", "2"]])
    #expect(records("\"a\"b\",1\nc,2\n") == [["ab\"", "1"], ["c", "2"]])
  }

  @Test("Records end with LF, CR LF or the input, and empty lines have one empty field")
  func ends() {
    #expect(records("a,b\r\n\r\n\nc,\r\nd,e\r") == [["a", "b"], [""], [""], ["c", ""], ["d", "e"]])
    #expect(records("a,") == [["a", ""]])
    #expect(records("").isEmpty && records("\u{FEFF}").isEmpty)
  }

  @Test("A byte order mark is skipped before a quoted field")
  func byteOrderMark() { #expect(records("\u{FEFF}\"a,b\",c\n") == [["a,b", "c"]]) }

  @Test("The line of a record is that in which it begins")
  func lines() {
    var reader = CSVReader(Array("a\n\"b\nb\"\n\nc".utf8)[...])
    var lines: [Int] = []
    while true {
      lines.append(reader.line)
      guard reader.next() != nil else { break }
    }
    #expect(lines == [1, 2, 4, 5, 5])
  }
}
