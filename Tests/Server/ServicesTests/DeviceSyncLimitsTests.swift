import AppStore
import Entitlements
import Store
import Testing

@testable import Services

@Suite("Device sync limits")
struct DeviceSyncLimitsTests {
  private let limits = DeviceSyncLimits()
  private let policy = DeviceSyncPolicy(maxInstallations: 2)
  private let start = Instant(millisecondsSince1970: 1_800_000_000_000)

  private func line(_ id: String, in environment: Environment = .production) -> LineKey {
    LineKey(appID: "sea", environment: environment, lineID: id)
  }

  private func excess(_ installation: UInt8, _ lines: [LineKey], days: Int64 = 0) -> [LineKey] {
    let bytes = [UInt8](repeating: installation, count: 32)
    return limits.excess(
      ofInstallation: bytes, of: lines, policy, at: start.advanced(byMilliseconds: days * 86_400_000))
  }

  @Test("An installation over the limit of a purchase is in excess; those of before are not")
  func installations() {
    #expect(excess(1, [line("7")]).isEmpty)
    #expect(excess(2, [line("7")]).isEmpty)
    #expect(excess(3, [line("7")]) == [line("7")])
    #expect(excess(1, [line("7")]).isEmpty)
    #expect(excess(3, [line("7"), line("8")]) == [line("7")])
    #expect(excess(3, [line("7", in: .sandbox)]).isEmpty)
  }

  @Test("The next day begins with no installations")
  func days() {
    for installation: UInt8 in 1...3 { _ = excess(installation, [line("7")]) }
    #expect(excess(3, [line("7")], days: 1).isEmpty)
  }

  @Test("Requests of an app install are limited in each hour, with the time until the next one")
  func requests() {
    let install = line("app-1")
    let times = (0..<30).map { _ in limits.delay(ofRequestOf: install, policy, at: start) }
    #expect(times.prefix(24).allSatisfy { $0 == nil })
    #expect(times.dropFirst(24).allSatisfy { ($0 ?? 0) > 0 && ($0 ?? 0) <= 3_600_000 })
    #expect(limits.delay(ofRequestOf: line("app-2"), policy, at: start) == nil)
    #expect(limits.delay(ofRequestOf: install, policy, at: start.advanced(byMilliseconds: 3_600_000)) == nil)
  }
}
