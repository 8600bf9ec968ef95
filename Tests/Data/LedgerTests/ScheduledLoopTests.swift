import AppStore
import Ledger
import Store
import Testing

@Suite struct ScheduledLoopTests {
  @Test("An error of the body ends the loop, although signals may follow", .timeLimit(.minutes(1)))
  func error() async {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self)
    let loop = ScheduledLoop(ServiceClock(now: { Instant(millisecondsSince1970: 0) })) {
      throw StoreError.diskFull
    }
    await #expect(throws: StoreError.diskFull) { try await loop.run(wokenBy: signals) }
    signal.finish()
  }
}
