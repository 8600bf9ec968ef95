import Bytes
import Foundation
import Testing

@testable import ReceiptMigration

/// Inputs of jobs, as people make them.
@Suite struct InputReaderTests {
  private func read(
    _ text: String, _ format: InputFormat = InputFormat(), after line: Int64 = 0, at position: Int64 = 0
  ) throws -> [InputLine] {
    try read(Data(text.utf8), format, after: line, at: position)
  }

  private func read(
    _ content: Data, _ format: InputFormat = InputFormat(), after line: Int64 = 0, at position: Int64 = 0
  ) throws -> [InputLine] {
    let path = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try content.write(to: URL(fileURLWithPath: path))
    var reader = try InputReader(InputFileSource(path: path), format, after: line, at: position)
    var lines: [InputLine] = []
    while let line = try reader.next() { lines.append(line) }
    return lines
  }

  private func customers(_ lines: [InputLine]) -> [String] {
    lines.map { line in (try? line.record.get().customerID) ?? "-" }
  }

  @Test(
    "The first character selects JSON or CSV; empty lines have no result, and count as lines of the input")
  func syntaxes() throws {
    let json = """

      {"customer_id": "a", "receipt": "MII"}

      {"customer_id": 7, "original_transaction_id": 12}
      """
    let lines = try read(json)
    #expect(customers(lines) == ["a", "7"])
    #expect(try lines.map { try $0.record.get().content } == [.text("MII"), .originalTransactionID("12")])
    #expect(lines.map(\.number) == [2, 4])
    let csv = "customer_id,receipt,original_transaction_id\r\na,MII,\r\nb,,12\r\n"
    #expect(
      try read(csv).map { try $0.record.get() } == [
        InputRecord(customerID: "a", receipt: "MII", number: nil),
        InputRecord(customerID: "b", receipt: nil, number: "12"),
      ])
  }

  @Test("Columns have other names, delimiters, quotes, line ends in quotes, and a mark at the beginning")
  func columns() throws {
    var format = InputFormat()
    format.customerColumn = "user \"id\""
    format.receiptColumn = "blob"
    format.delimiter = ";"
    let csv = "\u{FEFF}\"user \"\"id\"\"\";blob\n\"a;\nb\";MII\nc;\n"
    let lines = try read(csv, format)
    #expect(customers(lines) == ["a;\nb", "-"])
    #expect(lines[1].record == .failure(.nothingToMigrate))
    format.customerColumn = "subscriber.id"
    format.syntax = .ndjson
    #expect(try customers(read("{\"subscriber\": {\"id\": \"x\"}, \"blob\": \"M\"}", format)) == ["x"])
    #expect(InputFormat(format.text) == format)
  }

  @Test("A quote within a column is content, so that the lines below it stay lines")
  func strayQuote() throws {
    let lines = try read("customer_id,receipt\n5\" nail,M\nb,M\n\"c\",M\n")
    #expect(customers(lines) == ["5\" nail", "b", "c"])
    #expect(lines.map(\.number) == [2, 3, 4])
  }

  @Test("The number of a line is that of its first line in the input, as an editor shows it")
  func numbers() throws {
    let long = String(repeating: "M", count: InputFile.maxLineLength + 1)
    let csv = "\r\ncustomer_id,\"receipt\"\r\n\t\n\"a\n\nb\",M\r\n   \n\"c\n\",\"M\nM\"\n\nd,\(long)\ne,\"M\n"
    #expect(try read(csv).map(\.number) == [4, 8, 12, 13])
  }

  @Test("A quote without an end is named, also if the number of columns is right")
  func unclosedQuote() throws {
    let lines = try read("customer_id,receipt\na,M\nb,\"M\nc,M\nd,M\n")
    #expect(customers(lines) == ["a", "-"])
    guard case .failure(.malformedLine(let problem)) = lines[1].record else {
      Issue.record("the line is read")
      return
    }
    #expect(problem.hasPrefix("a quoted field has no end"))
  }

  @Test("An id in another encoding makes no customer, and other columns may have any bytes")
  func otherEncodings() throws {
    let text = "customer_id,receipt,name\nd\u{F6}ra,M,x\nd\u{E4}ra,M,x\nbob,M,K\u{F6}ln\n"
    let content = try #require(text.data(using: .isoLatin1))
    let lines = try read(content)
    #expect(customers(lines) == ["-", "-", "bob"])
    #expect(lines[0].record == .failure(.malformedLine("not UTF-8")))
  }

  @Test("A byte order mark and empty lines may precede JSON and a header")
  func beginnings() throws {
    let json = try read("\u{FEFF}\n{\"customer_id\": \"a\", \"receipt\": \"M\"}\n")
    #expect(customers(json) == ["a"] && json.map(\.number) == [2])
    let csv = try read("\u{FEFF}\r\n\"customer_id\",receipt\r\nb,M\r\n")
    #expect(customers(csv) == ["b"] && csv.map(\.number) == [3])
    #expect(try read("\n \n").isEmpty)
  }

  @Test("Unreadable lines are named one by one, and the others are read")
  func faults() throws {
    let lines = try read("{\"customer_id\": \"a\", \"receipt\": \"M\"}\n{oh\n[1]\n{\"receipt\": \"M\"}")
    #expect(customers(lines) == ["a", "-", "-", ""])
    let csv = try read("customer_id,receipt\na\nb,M\n")
    #expect(
      csv[0].record == .failure(.malformedLine("1 columns, but the header has 2")))
    #expect(throws: InputError.noColumns(wanted: ["receipt", "original_transaction_id"], found: ["x", "y"])) {
      try read("x,y\n1,2\n")
    }
    #expect(throws: InputError.self) {
      try InputReader(InputFileSource(path: "/no/where"), InputFormat(), after: 0, at: 0)
    }
  }

  @Test(
    "An input without a line is refused, and one whose customers were erased is read",
    arguments: ["", "\n\r\n", "\u{FEFF}"])
  func emptyInputs(text: String) throws {
    #expect(throws: InputError.emptyInput) { try read(text) }
    #expect(try read(text + "   \n").isEmpty)
    #expect(try read(text + "customer_id,receipt").isEmpty)
    #expect(InputError.emptyInput.description.hasPrefix("the input is empty"))
  }

  @Test("An input that has no lines in UTF-8 is refused, with the form that it has")
  func unsupportedForms() throws {
    let header = "customer_id,receipt"
    let gzip = Data([0x1F, 0x8B, 0x08, 0x00]) + Data(header.utf8)
    let utf16 = try #require("\(header)\na,M\n".data(using: .utf16))
    let inputs: [(Data, InputError.Form)] = [
      (gzip, .gzip), (utf16, .wide(.utf16)), (Data("\(header)\ra,M\r".utf8), .carriageReturns),
      (Data("{\"receipt\":\"M\"}\r{\"receipt\":\"M\"}".utf8), .carriageReturns),
    ]
    for (input, form) in inputs {
      #expect(throws: InputError.unsupported(form)) { try read(input) }
    }
    for (encoding, form) in [
      (String.Encoding.utf16LittleEndian, WideEncoding.utf16LittleEndian), (.utf16BigEndian, .utf16BigEndian),
    ] {
      let input = try #require("\(header)\na,M\n".data(using: encoding))
      #expect(throws: InputError.unsupported(.wide(form))) { try read(input) }
      #expect(InputError.unsupported(.wide(form)).description.contains("iconv -f \(form.rawValue)"))
    }
    #expect(InputError.unsupported(.gzip).description.contains("gunzip"))
    #expect(try customers(read("\(header)\r\na\rb,M\r\n")) == ["a\rb"])
    #expect(try customers(read("{\"customer_id\":\"a\",\"receipt\":\"M\"}\r")) == ["a"])
  }

  @Test("An input that begins with more white space than a line can have is not kept in memory")
  func whiteSpace() throws {
    let file = try InputFile(WhiteSpace(), from: 0)
    #expect(try file.peek() == nil)
    #expect(throws: InputError.lineTooLong(limit: InputFile.maxLineLength)) { try file.line() }
  }

  @Test("A header of separators alone is an error that names the line and the limit")
  func wideHeader() throws {
    let separators = String(repeating: ",", count: 2_000_000)
    let error = InputError.tooManyColumns(2_000_002, limit: InputReader.maxColumns)
    #expect(throws: error) { try read("receipt,\(separators)\na\n") }
    #expect(error.description.hasPrefix("the first line, which is the header, has 2000002 columns"))
    #expect(
      throws: InputError.noColumns(
        wanted: ["receipt", "original_transaction_id"], found: Array(repeating: "", count: 20))
    ) {
      try read(String(repeating: ",", count: 100) + "x\n1\n")
    }
  }

  @Test("A customer column that is required must be in a header, which may lack one that is not")
  func customerColumn() throws {
    var format = InputFormat()
    #expect(try customers(read("receipt,user\nM,b\n", format)) == [""])
    format.requiresCustomerColumn = true
    let error = InputError.noColumns(wanted: ["customer_id"], found: ["receipt", "user"])
    #expect(throws: error) { try read("receipt,user\nM,b\n", format) }
    #expect(error.description == "the header has no column customer_id, but receipt, user")
    #expect(InputFormat(format.text) == format)
    format.customerColumn = "user"
    #expect(try customers(read("receipt,user\nM,b\n", format)) == ["b"])
    #expect(try customers(read(#"{"receipt":"M"}"#, format)) == [""])
  }

  @Test(
    "A name of the customer that differs in case and separators alone is an error, and others are ignored",
    arguments: ["customerId", "CustomerID", "customer-id"])
  func misnamedCustomer(name: String) throws {
    let lines = try read(
      """
      {"\(name)": "a", "receipt": "M"}
      {"\(name)": "a", "customer_id": "b", "receipt": "M"}
      {"customer": "a", "receipt": "M"}
      """)
    #expect(customers(lines) == ["-", "b", ""])
    #expect(
      lines[0].record
        == .failure(.malformedLine("the customer is expected in customer_id, not in \(name)")))
    #expect(throws: InputError.noColumns(wanted: ["customer_id"], found: [name])) {
      try read("receipt,\(name)\nM,a\n")
    }
    #expect(try customers(read("receipt,\(name),customer_id\nM,a,b\n")) == ["b"])
  }

  @Test("A customer of JSON is a string or a number, and may have no value")
  func customerTypes() throws {
    let values = ["true", #"["a"]"#, #"{"id":"a"}"#, "null", "7", #""a""#]
    let lines = try read(values.map { #"{"customer_id":\#($0),"receipt":"M"}"# }.joined(separator: "\n"))
    #expect(customers(lines) == ["-", "-", "-", "", "7", "a"])
    #expect(
      lines[0].record == .failure(.malformedLine("customer_id is neither a string nor a number")))
  }

  @Test("Rows of millions of columns and lines of millions of values are malformed, and the others are read")
  func wideRows() throws {
    let rows = try read("receipt,customer_id\n\(String(repeating: ",", count: 2_000_000))\nM,b\n")
    #expect(rows[0].record == .failure(.malformedLine("2000001 columns, but the header has 2")))
    #expect(rows.map(\.number) == [2, 3] && customers(rows) == ["-", "b"])
    let zeros = String(repeating: "0,", count: InputReader.maxValues) + "0"
    let lines = try read("{\"receipt\":\"M\",\"x\":[\(zeros)]}\n{\"receipt\":\"M\",\"customer_id\":\"b\"}\n")
    #expect(customers(lines) == ["-", "b"])
    guard case .failure(.malformedLine) = lines[0].record else {
      Issue.record("the line is read")
      return
    }
  }

  @Test("Reading continues from any line as if it had never stopped", arguments: [true, false])
  func resumption(isCSV: Bool) throws {
    let long = String(repeating: "M", count: 300_000)
    let rows = (1...40).map { number in
      let receipt = number % 7 == 0 ? long : "M\(number)"
      return isCSV ? "c\(number),\(receipt)" : "{\"customer_id\":\"c\(number)\",\"receipt\":\"\(receipt)\"}"
    }
    let text =
      (isCSV ? ["customer_id,receipt"] : []).joined() + (isCSV ? "\n" : "") + rows.joined(separator: "\n")
    let all = try read(text)
    #expect(all.count == 40)
    for place in [1, 7, 20, 39] {
      let rest = try read(text, after: all[place].number - 1, at: all[place].position)
      #expect(rest == Array(all[place...]))
    }
  }
}

/// An input of four lines' length with nothing but spaces.
private struct WhiteSpace: InputSource {
  let path = "spaces"

  func opened() -> (Int64, Int) throws -> [UInt8] {
    { offset, count in
      let rest = max(0, Int64(InputFile.maxLineLength * 4) - offset)
      return [UInt8](repeating: 0x20, count: min(count, Int(rest)))
    }
  }
}
