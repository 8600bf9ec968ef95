import AppStore
import RPC
import Store
import Testing

@testable import Services

/// The kinds of text that the search box recognizes.
@Suite struct SearchQueryTests {
  @Test(
    "A text names an event, a piece of evidence or a command by its number",
    arguments: [
      ("12", 12, 12, nil), (" #12 ", 12, nil, nil), ("Event 12", 12, nil, nil), ("event #12", 12, nil, nil),
      ("evidence 12", nil, 12, nil), ("EVIDENCE #12", nil, 12, nil), ("transfer-12", nil, nil, 12),
      ("0", nil, nil, nil), ("-1", nil, nil, nil), ("99999999999999999999", nil, nil, nil),
      ("\u{0661}\u{0662}", nil, nil, nil), ("event ann", nil, nil, nil), ("ann@example.com", nil, nil, nil),
    ] as [(String, Int64?, Int64?, Int64?)])
  func numbers(text: String, sequence: Int64?, evidence: Int64?, transfer: Int64?) throws {
    let query = try SearchQuery(text)
    #expect(query.sequence == sequence)
    #expect(query.evidenceID == evidence)
    #expect(query.transferEvidenceID == transfer)
  }

  @Test("NAME=VALUE is an attribute; the value may contain equal signs")
  func attributes() throws {
    let attribute = try SearchQuery("plan=a=b").attribute
    #expect(attribute?.name == "plan" && attribute?.value == "a=b")
    for text in ["plan", "plan=", "=gold"] {
      let name = try SearchQuery(text).attribute?.name
      #expect(name == nil)
    }
  }

  @Test("White space around the text does not count, and nothing else is no query")
  func whiteSpace() throws {
    #expect(try SearchQuery("\n ann lee\t").text == "ann lee")
    #expect(try SearchQuery("\n ann lee\t").exact?.text == "\n ann lee\t", "unless an id has it")
    #expect(try SearchQuery("ann lee").exact == nil)
    for text in ["", " \n"] {
      let status = thrownStatus { _ = try SearchQuery(text) }
      #expect(status?.reason == "MISSING_FIELD" && status?.invalidField == "query")
    }
  }

  @Test("A page begins where its position says, also after an id with any characters")
  func positions() {
    let customer = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "a\0b")
    for position in [
      SearchPosition(exactHits: 0), SearchPosition(exactHits: 7),
      SearchPosition(exactHits: 7, customer: customer),
    ] {
      #expect(SearchPosition(position.description) == position)
    }
    #expect(SearchPosition(nil) == SearchPosition(exactHits: 0))
  }
}
