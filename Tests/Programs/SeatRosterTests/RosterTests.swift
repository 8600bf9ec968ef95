import SeatRoster
import Testing

/// Rosters in CSV.
@Suite struct RosterTests {
  private func roster(_ text: String, purchase: String? = nil) throws -> Roster {
    try Roster(csv: Array(text.utf8), purchase: purchase)
  }

  @Test("A quote without an end makes each purchase incomplete, so no seat is released")
  func unclosedQuote() throws {
    for text in ["customer_id\nann\n\"ben\ncat\n", "customer_id,name\nann,x\nben,\"x\ncat,x\n"] {
      let roster = try roster(text, purchase: "1")
      #expect(roster.rows.map(\.customer) == ["ann"])
      #expect(roster.faults.map(\.row) == [3])
      #expect(roster.faults[0].problem.hasPrefix("a quoted field has no end"))
      #expect(roster.isIncomplete("1"))
    }
  }

  @Test("Rows name customers of purchases, and other columns are ignored")
  func rows() throws {
    let roster = try roster("name,customer_id,original_transaction_id\nAnn,ann,1\nBen,ben,2\nCat,cat,1\n")
    #expect(roster.rows.map(\.customer) == ["ann", "ben", "cat"] && roster.rows.map(\.number) == [2, 3, 4])
    #expect(roster.purchases == ["1", "2"] && roster.rows(of: "1").map(\.customer) == ["ann", "cat"])
    #expect(roster.faults.isEmpty && roster.repeated.isEmpty)
  }

  @Test("Quotes, a byte order mark, empty lines and line ends of Windows are read as spreadsheets write them")
  func forms() throws {
    let text = "\u{FEFF}\"customer_id\",note\r\n\"a \"\"b\"\", c\",\"two\nlines\"\r\n\r\n\t dan ,\r\neva,x"
    let roster = try roster(text, purchase: "7")
    #expect(roster.rows.map(\.customer) == ["a \"b\", c", "dan", "eva"] && roster.faults.isEmpty)
    #expect(roster.rows.map(\.number) == [2, 4, 5] && roster.purchases == ["7"])
  }

  @Test("Lines that end with CR alone are read")
  func carriageReturns() throws {
    let roster = try roster("customer_id,original_transaction_id\rann,1\rben,1\r")
    #expect(roster.rows.map(\.customer) == ["ann", "ben"] && roster.faults.isEmpty)
  }

  @Test("An empty roster and a header in another encoding have different errors")
  func headers() throws {
    let empty = #expect(throws: RosterError.self) { try roster("\n\n") }
    #expect(empty?.description.hasPrefix("the roster is empty") == true)
    let other = #expect(throws: RosterError.self) { try Roster(csv: [0xFF, 0xFE, 0x63, 0x00]) }
    #expect(other?.description.contains("iconv") == true)
  }

  @Test("A row with an error is named, and the others are valid")
  func faults() throws {
    var bytes = Array("customer_id,original_transaction_id\nann,1\nben\n,1\ncat,\n".utf8)
    bytes += [0xFF] + Array(",1\n".utf8) + Array("\(String(repeating: "x", count: 257)),2\nann,1\n".utf8)
    let roster = try Roster(csv: bytes)
    #expect(roster.rows.map(\.customer) == ["ann"] && roster.repeated.map(\.number) == [8])
    #expect(roster.faults.map(\.row) == [3, 4, 5, 6, 7])
    #expect(roster.faults.map(\.purchase) == [nil, "1", nil, nil, "2"])
    #expect(roster.rows.count + roster.repeated.count + roster.faults.count == 7)
    #expect(roster.isIncomplete("1") && roster.isIncomplete("9"), "a row may be of each purchase")
  }

  @Test("A fault of one purchase does not concern another one")
  func faultOfOnePurchase() throws {
    let roster = try roster("customer_id,original_transaction_id\nann,1\n,2\n")
    #expect(!roster.isIncomplete("1") && roster.isIncomplete("2"))
  }

  @Test(
    "A file without the columns is no roster",
    arguments: ["", "name\nann\n", "customer_id\nann\n", "original_transaction_id\n1\n"])
  func invalid(text: String) {
    #expect(throws: RosterError.self) { try roster(text) }
  }

  @Test("A row's purchase counts more than the given one")
  func givenPurchase() throws {
    let roster = try roster("customer_id,original_transaction_id\nann,\nben,2\n", purchase: "1")
    #expect(roster.rows.map(\.purchase) == ["1", "2"])
  }
}
