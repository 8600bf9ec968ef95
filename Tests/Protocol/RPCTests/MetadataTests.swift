import HTTP
import RPC
import Testing

@Suite struct MetadataTests {
  @Test("Only the caller's own fields are metadata")
  func reserved() {
    let metadata = Metadata(
      HeaderFields([
        (":path", "/x"), ("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "1S"),
        ("user-agent", "a"), ("x-request-id", "7"), ("x-request-id", "8"),
      ]))
    #expect(metadata.entries.map(\.name) == ["x-request-id", "x-request-id"])
    #expect(metadata["x-request-id"] == [Array("7".utf8), Array("8".utf8)])
  }

  @Test("Binary values of any length are encoded as Base64", arguments: 0...20)
  func binary(length: Int) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37) }
    var metadata = Metadata()
    metadata.append("trace-bin", bytes)
    #expect(length == 0 || Metadata(metadata.fields)["trace-bin"] == [bytes])
  }

  @Test(
    "Base64 is decoded with and without padding, and joined values are split",
    arguments: [
      ("AAEC", [[0, 1, 2]]), ("AA==", [[0]]), ("AA", [[0]]), ("AAE=, Ag", [[0, 1], [2]]), ("!", []),
    ]
      as [(String, [[UInt8]])])
  func base64(text: String, expected: [[UInt8]]) {
    #expect(Metadata(HeaderFields([("x-bin", text)]))["x-bin"] == expected)
  }
}
