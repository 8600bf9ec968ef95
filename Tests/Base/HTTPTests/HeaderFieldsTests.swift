import HTTP
import Testing

@Suite struct HeaderFieldsTests {
  @Test("Fields keep their order, duplicates and bytes")
  func order() {
    let fields = HeaderFields([("b", "1"), ("a", ""), ("b", "2"), (":path", "/x")])
    #expect(fields.strings.map(\.name) == ["b", "a", "b", ":path"])
    #expect(fields.strings.map(\.value) == ["1", "", "2", "/x"])
    #expect(fields["b"] == "1")
    #expect(fields["a"] == "")
    #expect(fields["missing"] == nil)
    #expect(fields.count == 4)
  }

  @Test("The size is names, values and 32 bytes for each field, as in HTTP/2")
  func size() {
    #expect(HeaderFields([("ab", "cde")]).sizeInBytes == 37)
    #expect(HeaderFields().sizeInBytes == 0)
  }

  @Test("A request target is split at its first question mark")
  func target() {
    let request = HTTPRequest(method: "GET", target: "/a/b?c=d?e")
    #expect(request.path == "/a/b")
    #expect(request.query == "c=d?e")
  }
}
