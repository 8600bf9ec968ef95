import Bytes
import Testing

@Suite struct CSVFieldTests {
  private func read(_ line: String) -> [[String]] {
    var reader = CSVReader(Array(line.utf8)[...])
    var records: [[String]] = []
    while let fields = reader.next() { records.append(fields.map { String(decoding: $0, as: UTF8.self) }) }
    return records
  }

  @Test(
    "A field is read as it was written",
    arguments: [
      "", "a", "a,b", "a\nb", "a\rb", "a\r\nb", "\"", "a\"b", "a\"\u{301},b", "a\n\u{301}b", "\"\u{20E3}\"",
      "é 🐚",
    ])
  func quoted(text: String) {
    let line = [CSVField.quoted(text), CSVField.quoted("end")].joined(separator: ",") + "\r\n"
    #expect(read(line).map { $0.map { Array($0.utf8) } } == [[Array(text.utf8), Array("end".utf8)]])
  }

  @Test(
    "A spreadsheet takes no text for a formula",
    arguments: ["=1+1", "+a", "-a", "@a", "\t=1", "\r=1", "\n=1", "\r\n=1", "=\u{301}1", "@\u{20E3}", "-1,2"])
  func formula(text: String) {
    #expect(read(CSVField.forSpreadsheet(text)) == [["'" + text]])
  }

  @Test(
    "A field for a spreadsheet is read as it was written, also a text that begins with apostrophes",
    arguments: [
      "=1+1", "-a", "'-a", "''=a", "'a", "'", "'-1", "-1", "", "'\u{301}-a", "'\t", "-a,\"b\"",
    ])
  func spreadsheet(text: String) {
    let fields = read(CSVField.forSpreadsheet(text) + ",end").first ?? []
    #expect(fields.first.map { Array(CSVField.fromSpreadsheet($0).utf8) } == Array(text.utf8))
  }

  @Test(
    "Numbers and other texts stay as they are in a spreadsheet", arguments: ["-1", "+1.5", "a=1", "", "'a"])
  func text(text: String) { #expect(CSVField.forSpreadsheet(text) == text) }
}
