import Testing

@testable import PostgresStore

/// The id at which a scan of the inbox begins.
@Suite struct InboxScanTests {
  @Test("A scan begins some ids before the lowest entry without outcome, and once a second at the first one")
  func start() {
    var scan = InboxScan()
    let now = ContinuousClock.now
    #expect(scan.start(at: now) == .min)
    scan.saw([InboxScan.distance + 7, InboxScan.distance + 5])
    #expect(scan.start(at: now) == 5)
    // Without entries nothing is known.
    scan.saw([Int64]())
    #expect(scan.start(at: now + InboxScan.interval / 2) == 5)
    #expect(scan.start(at: now + InboxScan.interval) == .min)
    #expect(scan.start(at: now + InboxScan.interval) == 5)
    // Entries that appeared late are before the others.
    scan.saw([-1])
    #expect(scan.start(at: now + InboxScan.interval) == -1 - InboxScan.distance)
  }

  @Test("A long scan of everything is followed by others from the lowest known id, also if it failed")
  func longScan() {
    var scan = InboxScan()
    let now = ContinuousClock.now
    #expect(scan.start(at: now) == .min)
    scan.saw([InboxScan.distance + 5])
    let long = InboxScan.interval * 1.1
    scan.ended(from: now, at: now + long)
    #expect(scan.start(at: now + long) == 5)
    #expect(scan.start(at: now + long * 9) == 5)
    #expect(scan.start(at: now + long * InboxScan.restFactor) == .min)
  }
}
