import HTTP
import Testing

@testable import HTTP2

@Suite struct SentBytesTests {
  @Test("The sent part of a response is freed while a part is always unsent")
  func sentIsFreed() throws {
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    pair.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    pair.server.send(on: id) { $0 += [UInt8](repeating: 7, count: 300_000) }
    for number in 0..<10_000 {
      pair.server.send(on: id) { $0 += [UInt8](repeating: UInt8(number % 251), count: 1_000) }
      try pair.exchange()
      #expect(pair.server.unsentCount(of: id) > 0)
      // No more than was appended, so that a part stays unsent.
      let count = 1_000
      pair.client.removeInbound(count, of: id)
      pair.client.allowMore(count, on: id)
      pair.clearEvents()
    }
    let stream = try #require(openStream(pair.server.session, id.rawValue))
    #expect(stream.pointee.outbound.capacity < 1_000_000)
  }
}
