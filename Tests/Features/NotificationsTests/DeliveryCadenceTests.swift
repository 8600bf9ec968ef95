import AppStore
import Store
import Testing

@testable import Notifications
@testable import Reconciliation

@Suite("At what distances notifications arrive")
struct DeliveryCadenceTests {
  private let place = AppEnvironment(appID: "ocean", environment: .sandbox)

  private func moment(_ seconds: Int64) -> Instant { Instant(millisecondsSince1970: seconds * 1_000) }

  @Test("A cadence is known after a few distances")
  func few() {
    let cadence = DeliveryCadence()
    for second in [0, 10, 20, 30, 40] { cadence.recordArrival(place, at: moment(Int64(second))) }
    #expect(cadence.statistics(place)?.typicalInterval == nil)
    cadence.recordArrival(place, at: moment(50))
    #expect(cadence.statistics(place)?.typicalInterval == 10_000)
    #expect(cadence.statistics(place)?.last == moment(50))
    #expect(cadence.statistics(.init(appID: "ocean", environment: .production)) == nil)
  }

  @Test("One long distance moves it, many make it another one")
  func moving() {
    let cadence = DeliveryCadence()
    for second in 0...10 { cadence.recordArrival(place, at: moment(Int64(second) * 10)) }
    cadence.recordArrival(place, at: moment(200))
    #expect(cadence.statistics(place)?.typicalInterval == 28_000)
    for count in 1...40 { cadence.recordArrival(place, at: moment(200 + Int64(count) * 100)) }
    #expect(cadence.statistics(place)?.typicalInterval.map { (95_000...100_000).contains($0) } == true)
  }

  @Test("What was remembered counts until something is heard, and one that comes late turns nothing back")
  func remembered() {
    let cadence = DeliveryCadence()
    cadence.remember(.init(last: moment(5), typicalInterval: 7_000), of: place)
    #expect(cadence.statistics(place)?.typicalInterval == 7_000)
    cadence.remember(.init(last: moment(1)), of: place)
    #expect(cadence.statistics(place)?.last == moment(5))
    cadence.recordArrival(place, at: moment(3))
    #expect(cadence.statistics(place)?.last == moment(5))
  }
}
