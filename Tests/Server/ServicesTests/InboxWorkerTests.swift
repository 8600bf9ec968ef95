import Testing

@testable import Services

@Suite("The leader's work for the inbox")
struct InboxWorkerTests {
  @Test("The backlog is measured each second, or less often if a measurement takes long")
  func measuring() {
    #expect(InboxWorker.pause(afterMeasuring: .milliseconds(2)) == .seconds(1))
    #expect(InboxWorker.pause(afterMeasuring: .seconds(3)) == .seconds(30))
  }
}
