import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct DiskFullLogTests {
  @Test(
    "A full disk is logged once with what to do, although small writes succeed meanwhile, and once when it is over"
  )
  func once() {
    let lines = LogLines()
    var log = DiskFullLog(path: "/data", logger: lines.logger)
    let start = ContinuousClock.now
    for second in 0..<100 {
      log.record(second % 2 == 0 ? .diskFull : nil, at: start + .seconds(second))
    }
    #expect(lines.all.count == 1)
    #expect(lines.all[0].hasPrefix("warning disk full, writes are refused [action: free space"))
    log.record(nil, at: start + .seconds(200))
    log.record(nil, at: start + .seconds(300))
    #expect(lines.all.dropFirst() == ["notice disk has space again [path: /data]"])
    log.record(.failed("other"), at: start + .seconds(400))
    log.record(.diskFull, at: start + .seconds(500))
    #expect(lines.all.count == 3)
  }
}
