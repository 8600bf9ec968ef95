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
