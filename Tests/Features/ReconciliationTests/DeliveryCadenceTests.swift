import AppStore
import Store
import Testing

@testable import Reconciliation

@Suite("Delivery cadence")
struct DeliveryCadenceTests {
  private let target = AppEnvironment(appID: "ocean", environment: .sandbox)

  private func instant(_ seconds: Int64) -> Instant { Instant(millisecondsSince1970: seconds * 1_000) }

  @Test("The typical interval is known after five intervals")
  func few() {
    let cadence = DeliveryCadence()
    for second in [0, 10, 20, 30, 40] { cadence.recordArrival(target, at: instant(Int64(second))) }
    #expect(cadence.statistics(target)?.typicalInterval == nil)
    cadence.recordArrival(target, at: instant(50))
    #expect(cadence.statistics(target)?.typicalInterval == 10_000)
    #expect(cadence.statistics(target)?.last == instant(50))
    #expect(cadence.statistics(.init(appID: "ocean", environment: .production)) == nil)
  }

  @Test("The typical interval follows the recent intervals")
  func moving() {
    let cadence = DeliveryCadence()
    for second in 0...10 { cadence.recordArrival(target, at: instant(Int64(second) * 10)) }
    cadence.recordArrival(target, at: instant(200))
    #expect(cadence.statistics(target)?.typicalInterval == 28_000)
    for count in 1...40 { cadence.recordArrival(target, at: instant(200 + Int64(count) * 100)) }
    #expect(cadence.statistics(target)?.typicalInterval.map { (95_000...100_000).contains($0) } == true)
  }

  @Test("After the clock was set back, the last delivery is not later than now")
  func clockSetBack() {
    let cadence = DeliveryCadence()
    cadence.limit(target, to: instant(1))
    #expect(cadence.statistics(target) == nil)
    cadence.recordArrival(target, at: instant(50))
    cadence.limit(target, to: instant(60))
    #expect(cadence.statistics(target)?.last == instant(50))
    cadence.limit(target, to: instant(7))
    #expect(cadence.statistics(target)?.last == instant(7))
  }

  @Test("Statistics that another leader stored replace older ones")
  func otherLeader() {
    let cadence = DeliveryCadence()
    for second in 0...9 { cadence.recordArrival(target, at: instant(Int64(second))) }
    cadence.restore(.init(last: instant(18_000), typicalInterval: 7_000), of: target)
    #expect(cadence.statistics(target)?.last == instant(18_000))
    #expect(cadence.statistics(target)?.typicalInterval == 7_000)
  }

  @Test("Restored statistics never retarget newer arrivals")
  func persistence() {
    let cadence = DeliveryCadence()
    cadence.restore(.init(last: instant(5), typicalInterval: 7_000), of: target)
    #expect(cadence.statistics(target)?.typicalInterval == 7_000)
    cadence.restore(.init(last: instant(1)), of: target)
    #expect(cadence.statistics(target)?.last == instant(5))
    cadence.recordArrival(target, at: instant(3))
    #expect(cadence.statistics(target)?.last == instant(5))
  }
}
