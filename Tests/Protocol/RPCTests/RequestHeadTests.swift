import HTTP
import RPC
import Testing
import Wire

@Suite struct RequestHeadTests {
  private let methods = MethodTable(
    Contract.services.flatMap(\.methods).map {
      Method(path: $0.fullName, handler: .unary { _, _ in .failure(Status(.unimplemented)) })
    })

  @Test("Every method of the contract is found by its path, and other paths are not")
  func paths() {
    for (index, method) in methods.methods.enumerated() {
      #expect(head([(":path", method.path)]).method == index)
      #expect(head([(":path", method.path + "x")]).method == nil)
    }
    #expect(head([(":path", "")]).method == nil)
    #expect(head([(":path", "/")]).method == nil)
  }

  @Test(
    "Only application/grpc with protobuf messages is gRPC",
    arguments: [
      ("application/grpc", RequestHead.ContentType.grpc), ("application/grpc+proto", .grpc),
      ("application/grpc;charset=utf-8", .grpc), ("application/grpc+json", .other),
      ("application/grpc-web", .other), ("application/json", .other), ("", .other),
    ])
  func contentType(text: String, expected: RequestHead.ContentType) {
    #expect(head([("content-type", text)]).contentType == expected)
  }

  @Test(
    "A content type is compared without case, as media types are",
    arguments: ["APPLICATION/GRPC", "Application/grpc+Proto", "application/GRPC; charset=utf-8"])
  func contentTypeCase(text: String) {
    #expect(head([("content-type", text)]).contentType == .grpc)
  }

  @Test("A malformed timeout is stored verbatim")
  func timeout() {
    #expect(head([("grpc-timeout", "5S")]).timeout == Timeout(nanoseconds: 5_000_000_000))
    #expect(head([("grpc-timeout", "soon")]).malformedTimeout == "soon")
  }

  @Test("Encodings are distinguished")
  func encoding() {
    #expect(head([]).encoding == .known(.identity))
    #expect(head([("grpc-encoding", "gzip")]).encoding == .known(.gzip))
    #expect(head([("grpc-encoding", "br")]).encoding == .unknown("br"))
    #expect(head([("grpc-accept-encoding", "identity, deflate, gzip")]).acceptsGzip)
    #expect(!head([("grpc-accept-encoding", "identity,xgzip")]).acceptsGzip)
    #expect(head([("grpc-accept-encoding", ",, gzip,")]).acceptsGzip)
    #expect(!head([("grpc-accept-encoding", ",, ,")]).acceptsGzip)
  }

  private func head(_ fields: [(String, String)]) -> RequestHead {
    RequestHead(HeaderFields(fields.map { (name: $0.0, value: $0.1) }), methods: methods)
  }
}
