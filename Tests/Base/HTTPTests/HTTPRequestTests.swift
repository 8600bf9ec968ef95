import HTTP
import Testing

@Suite struct HTTPRequestTests {
  @Test(
    "A tag is current if it is in a list, weak or not, and for an asterisk (RFC 9110, section 13.1.2)",
    arguments: [
      ("\"a\"", true), ("W/\"a\"", true), ("*", true), ("\"b\", W/\"a\"", true), (" \"b\"\t,\"a\" ", true),
      ("\"b\"", false), ("a", false), ("", false), ("w/\"a\"", false), ("\"a", false),
    ])
  func entityTag(field: String, isCurrent: Bool) {
    let request = HTTPRequest(method: "GET", target: "/", headers: HeaderFields([("if-none-match", field)]))
    #expect(request.isCurrent("\"a\"") == isCurrent)
    #expect(!HTTPRequest(method: "GET", target: "/").isCurrent("\"a\""))
  }

  @Test(
    "A path or a query that is not UTF-8 when it is decoded is refused",
    arguments: [
      ("/J%C3%BCrgen?a=%C3%BC", nil), ("/J%FCrgen", 400), ("/?a=%FC", 400), ("/?%FC=a", 400),
    ] as [(String, Int?)])
  func encoding(target: String, status: Int?) {
    // A body is not part of the address, whatever its content type says: urllib says that each is a form.
    let form = HeaderFields([("content-type", "application/x-www-form-urlencoded")])
    let request = HTTPRequest(method: "POST", target: target, headers: form, body: [0x30, 0xFC])
    #expect(request.refusalOfEncoding?.status == status)
  }
}
