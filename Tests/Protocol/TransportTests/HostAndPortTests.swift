import Testing
import Transport

@Suite struct HostAndPortTests {
  @Test(
    "An address is a host, a colon and a port",
    arguments: [
      ("127.0.0.1:50051", "127.0.0.1", 50051), ("localhost:0", "localhost", 0), ("[::1]:8080", "::1", 8080),
      ("0.0.0.0:65535", "0.0.0.0", 65535),
    ])
  func reads(text: String, host: String, port: Int) {
    #expect(HostAndPort(text) == HostAndPort(host: host, port: port))
    #expect(HostAndPort(text)?.description == text)
  }

  @Test(
    "A malformed address is rejected",
    arguments: ["", ":80", "localhost", "localhost:", "localhost:65536", "localhost:-1", "::1:80", "a:b"])
  func refuses(text: String) { #expect(HostAndPort(text) == nil) }
}
