import AppStore
import Testing

@testable import Notifications

@Suite("At what distances notifications arrive")
struct DeliveryRhythmTests {
  private let place = DeliveryRhythm.Place(appID: "ocean", environment: .sandbox)

  private func moment(_ seconds: Int64) -> Instant { Instant(millisecondsSince1970: seconds * 1_000) }

  @Test("A rhythm is known after a few distances")
  func few() {
    let rhythm = DeliveryRhythm()
    for second in [0, 10, 20, 30, 40] { rhythm.heard(place, at: moment(Int64(second))) }
    #expect(rhythm.beat(place)?.usual == nil)
    rhythm.heard(place, at: moment(50))
    #expect(rhythm.beat(place)?.usual == 10_000)
    #expect(rhythm.beat(place)?.last == moment(50))
    #expect(rhythm.beat(.init(appID: "ocean", environment: .production)) == nil)
  }

  @Test("One long distance moves it, many make it another one")
  func moving() {
    let rhythm = DeliveryRhythm()
    for second in 0...10 { rhythm.heard(place, at: moment(Int64(second) * 10)) }
    rhythm.heard(place, at: moment(200))
    #expect(rhythm.beat(place)?.usual == 28_000)
    for count in 1...40 { rhythm.heard(place, at: moment(200 + Int64(count) * 100)) }
    #expect(rhythm.beat(place)?.usual.map { (95_000...100_000).contains($0) } == true)
  }

  @Test("What was remembered counts until something is heard, and one that comes late turns nothing back")
  func remembered() {
    let rhythm = DeliveryRhythm()
    rhythm.remember(.init(last: moment(5), usual: 7_000), of: place)
    #expect(rhythm.beat(place)?.usual == 7_000)
    rhythm.remember(.init(last: moment(1)), of: place)
    #expect(rhythm.beat(place)?.last == moment(5))
    rhythm.heard(place, at: moment(3))
    #expect(rhythm.beat(place)?.last == moment(5))
  }
}
