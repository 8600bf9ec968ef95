import RPC
import Synchronization
import TestSupport
import Testing

@testable import Services

@Suite struct RefusalLogTests {
  @Test("One line a second for each reason has the address and the number of requests left out before it")
  func limit() {
    let lines = LogLines()
    let now = Mutex<Int64>(0)
    let log = RefusalLog(ticks: { now.withLock { $0 } }, logger: lines.logger)
    for second in Int64(0)..<3 {
      now.withLock { $0 = second * 1_000_000_000 }
      for _ in 0..<1_000 { log.record("BAD_SIGNATURE", of: "POST", app: "ocean", from: "192.0.2.1") }
    }
    log.record(Status(.unauthenticated, reason: "NO_CREDENTIAL", "missing"), of: "/Check", from: "192.0.2.2")
    let rejected = "method: POST, reason: BAD_SIGNATURE]"
    let later = "warning request refused [address: 192.0.2.1, app: ocean, left_out: 999, \(rejected)"
    #expect(
      lines.all == [
        "warning request refused [address: 192.0.2.1, app: ocean, \(rejected)", later, later,
        "warning request refused [address: 192.0.2.2, method: /Check, reason: NO_CREDENTIAL]",
      ])
  }
}
