import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

@Suite("Input that waits")
struct DelayedInputTests {
  /// A connection of which nothing is read. It notes its turns, and the end of each pass over the connections that wait.
  private final class Connection: DelayedConnection {
    let name: String
    let unmeasuredTime: TimeAmount
    private let loop: any EventLoop
    private let note: (String) -> Void

    init(
      _ name: String, _ unmeasuredTime: TimeAmount, on loop: any EventLoop,
      _ note: @escaping (String) -> Void
    ) {
      self.name = name
      self.unmeasuredTime = unmeasuredTime
      self.loop = loop
      self.note = note
    }

    func readDelayed() {
      note(name)
      // Runs after the connections that are served in this pass.
      loop.assumeIsolated().execute { [note] in note("end") }
    }
  }

  @Test(
    "Connections that will read much from their sockets have their turns one by one, in the order of their wait"
  )
  func turns() {
    let loop = EmbeddedEventLoop()
    let input = DelayedInput(loop)
    var seen: [String] = []
    for name in ["a", "b", "c"] {
      input.readLater(Connection(name, .milliseconds(1), on: loop) { seen.append($0) }, after: .zero)
    }
    loop.advanceTime(by: .seconds(1))
    #expect(seen == ["a", "end", "b", "end", "c", "end"])
  }
}
