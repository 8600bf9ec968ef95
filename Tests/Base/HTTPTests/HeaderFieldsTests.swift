import HTTP
import Testing

@Suite struct HeaderFieldsTests {
  @Test("Fields keep their order, their repetitions and their bytes")
  func order() {
    let fields = HeaderFields([("b", "1"), ("a", ""), ("b", "2"), (":path", "/x")])
    #expect(fields.strings.map(\.name) == ["b", "a", "b", ":path"])
    #expect(fields.strings.map(\.value) == ["1", "", "2", "/x"])
    #expect(fields["b"] == "1")
    #expect(fields["a"] == "")
    #expect(fields["missing"] == nil)
    #expect(fields.count == 4)
  }

  @Test("The size is counted as HTTP/2 counts it: names, values and 32 for each field")
  func size() {
    #expect(HeaderFields([("ab", "cde")]).sizeInBytes == 37)
    #expect(HeaderFields().sizeInBytes == 0)
  }

  @Test("A target is split at its first question mark")
  func target() {
    let request = HTTPRequest(method: "GET", target: "/a/b?c=d?e")
    #expect(request.path == "/a/b")
    #expect(request.query == "c=d?e")
  }
}
