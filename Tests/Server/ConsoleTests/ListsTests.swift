import AppStore
import Markup
import RPC
import Testing
import Wire

@testable import Console

@Suite struct CustomerListTests {
  @Test(
    "The customers are the first column of a list or CSV, each once, without the head",
    arguments: [
      ("ada\nben\nada\n", ["ada", "ben"]), ("customer_id,why\r\nada,outage\r\nben,\r\n", ["ada", "ben"]),
      ("\u{FEFF}Customer;days\nada;3", ["ada"]),
      ("\"a, b\",x\n\"say \"\"hi\"\"\",y", ["a, b", "say \"hi\""]),
      ("ada\ncustomer_id\n", ["ada", "customer_id"]), ("  \n\n", []), (",x\nada", ["ada"]),
      (" ada\nada \nada", [" ada", "ada ", "ada"]),
      ("id,note\na;b,\"one\ntwo\"\n\"c\nd\",x", ["a;b", "c\nd"]),
      ("id\n'-x\n''=y\n'z\n'-5", ["-x", "'=y", "'z", "'-5"]),
    ] as [(String, [String])])
  func ids(text: String, expected: [String]) throws {
    #expect(try CustomerList.ids(text) == expected)
  }

  @Test("A quote that is not closed is an error, because the lines after it would be lost")
  func openQuote() {
    let error = #expect(throws: Status.self) { try CustomerList.ids("ada\n\"ben\ncara\n") }
    #expect(error?.field == "customers" && error?.message.contains("line 2") == true)
  }

  @Test("Ids that are only canonically equivalent are different customers")
  func equivalentIDs() throws {
    #expect(try CustomerList.ids("ren\u{E9}\nrene\u{301}\nren\u{E9}\n").count == 2)
  }
}

@Suite struct SliderScaleTests {
  private let now = Instant(millisecondsSince1970: 1_800_000_000_000)

  @Test(
    "The slider has at most 501 steps, the last one is now, and the first one is not after the start",
    arguments: [1, 60, 3_600, 86_400, 13 * 30 * 86_400, 10 * 366 * 86_400] as [Int64])
  func steps(span: Int64) {
    let scale = SliderScale(from: now.advanced(byMilliseconds: -span * 1_000), to: now)
    #expect((scale.last - scale.first) % scale.step == 0)
    #expect(scale.last == now.millisecondsSince1970 / 1_000)
    #expect(scale.first <= scale.last - span && scale.last - span - scale.first < scale.step)
    #expect((scale.last - scale.first) / scale.step <= 501 + span / (7 * 86_400))
  }
}

@Suite struct FindTests {
  @Test(
    "A JWS, JSON and long texts are documents; ids are not",
    arguments: [
      ("eyJhbGciOiJFUzI1NiJ9.e30.c2ln", true), ("{\"signedPayload\":\"x\"}", true),
      (String(repeating: "A", count: 300), true), ("2000000123456789", false), ("ada@4711", false),
      ("eyJ", false), ("#12", false),
    ] as [(String, Bool)])
  func isDocument(text: String, expected: Bool) {
    #expect(FindPage.isDocument(text) == expected)
  }

  @Test("The purchases of a document are found at any depth, each once, as text or number")
  func purchases() {
    let documents = [
      #"{"originalTransactionId":"1","data":{"in_app":[{"original_transaction_id":"2"},{"original_transaction_id":"1"}]}}"#,
      #"{"originalTransactionId":3}"#, "no JSON",
    ]
    #expect(PayloadIDs.purchases(in: documents) == ["1", "2", "3"])
  }
}

@Suite struct OperatorLinksTests {
  private let links = OperatorLinks(
    grafana: "https://grafana.example.com/d/1", customer: "https://crm.example.com/c/{customer_id}?tab=1",
    ticket: "http://tickets.internal:8080/{ticket}")

  @Test("A customer id in a link is percent-encoded")
  func customer() {
    #expect(links.customer("a/b?\"<x>")?.text == "https://crm.example.com/c/a%2Fb%3F%22%3Cx%3E?tab=1")
    #expect(OperatorLinks().customer("a") == nil)
  }

  @Test(
    "Ticket numbers in notes are links; other words, also markup, are text",
    arguments: [
      ("see CRM-12, and #7.", 2), ("a-12 ## #x CRM- -1 A-1", 0), ("<b>#1</b>", 0), ("#1 #1", 2), ("", 0),
    ] as [(String, Int)])
  func note(text: String, count: Int) {
    let markup = links.note(text).description
    #expect(markup.split(separator: "<a ").count - 1 == count)
    #expect(!markup.contains("<b>"))
  }

  @Test("Punctuation after a ticket number stays outside of the link")
  func punctuation() {
    let markup = links.note("see CRM-12, and #7.").description
    #expect(
      markup.contains("href=\"http://tickets.internal:8080/CRM-12\" rel=\"noreferrer\">CRM-12</a>, and"))
    #expect(markup.contains("href=\"http://tickets.internal:8080/7\" rel=\"noreferrer\">#7</a>."))
  }
}
