import Glibc
import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

@Suite("The pace of new connections")
struct ConnectionPaceTests {
  private let start = NIODeadline.uptimeNanoseconds(1 << 50)

  @Test("The connections of a second are accepted at once, further ones at the rate of the limit")
  func unused() {
    let pace = ConnectionPace(perSecond: 10)
    var accepted = 0
    for millisecond in Int64(0)..<3_000 {
      let now = start + .milliseconds(millisecond)
      while pace.delay(at: now) == nil {
        pace.take(at: now)
        accepted += 1
      }
      if millisecond == 0 { #expect(accepted == 10) }
    }
    #expect(accepted == 39)
    let now = start + .milliseconds(2_999)
    #expect(pace.delay(at: now) == .milliseconds(1))
  }

  @Test("Connections with a successful call are not limited")
  func used() {
    let pace = ConnectionPace(perSecond: 2)
    for _ in 0..<1_000 {
      #expect(pace.delay(at: start) == nil)
      pace.take(at: start)
      pace.release()
    }
    pace.take(at: start)
    pace.take(at: start)
    #expect(pace.delay(at: start) == .milliseconds(500))
    pace.release()
    #expect(pace.delay(at: start) == nil)
  }

  @Test("Tokens do not accumulate beyond those of a second")
  func burst() {
    let pace = ConnectionPace(perSecond: 5)
    pace.take(at: start)
    pace.release()
    let later = start + .hours(1)
    for _ in 0..<5 { pace.take(at: later) }
    #expect(pace.delay(at: later) == .milliseconds(200))
  }

  @Test("After an error of the operating system nothing is accepted for a second")
  func systemError() throws {
    let pacer = AcceptPacer(ConnectionPace(perSecond: 1_000), DrainState(), isInherited: false)
    let channel = EmbeddedChannel(handler: pacer)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    func reads() -> Bool? {
      channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
    }
    channel.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
    #expect(reads() == false)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
    #expect(reads() == false)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(reads() == true)
  }

  @Test("A peer that ended its connection makes no other one wait")
  func abortedConnection() throws {
    let pacer = AcceptPacer(ConnectionPace(perSecond: 1_000), DrainState(), isInherited: false)
    let channel = EmbeddedChannel(handler: pacer)
    channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
    #expect(channel.options.isEmpty)
    #expect(throws: IOError.self) { try channel.throwIfErrorCaught() }
  }
}
