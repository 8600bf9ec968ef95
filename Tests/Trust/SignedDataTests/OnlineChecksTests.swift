import AppStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SignedData

@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl command"))
struct OnlineChecksTests {
  @Test("Policy off sends no request; hard sends one for many concurrent documents")
  func hard() async throws {
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.good)
    #expect(try await fixture.checks.check(fixture.chain, policy: .off) == nil)
    #expect(fixture.fetcher.count == 0)

    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask { (try? await fixture.checks.check(fixture.chain, policy: .hard)) != nil }
      }
      for await passed in group { #expect(passed) }
    }
    #expect(fixture.fetcher.count == 1)
    #expect(fixture.fetcher.addresses == ["http://ocsp.example.com/a"])
  }

  @Test("A network failure is reported as unavailable and not retried for ten seconds")
  func unavailable() async throws {
    let fixture = try Fixture()
    let error = await #expect(throws: OnlineCheckError.self) {
      try await fixture.checks.check(fixture.chain, policy: .hard)
    }
    #expect(error == .unavailable("no network", retryAfterMilliseconds: 10_000))
    fixture.advance(seconds: 4)
    let again = await #expect(throws: OnlineCheckError.self) {
      try await fixture.checks.check(fixture.chain, policy: .hard)
    }
    #expect(again == .unavailable("the last OCSP request failed", retryAfterMilliseconds: 6_000))
    #expect(fixture.fetcher.count == 1)

    fixture.fetcher.response = try fixture.authority.response(.good)
    fixture.advance(seconds: 6)
    #expect(try await fixture.checks.check(fixture.chain, policy: .hard) != nil)
    #expect(fixture.fetcher.count == 2)
  }

  @Test("Policy soft passes without a response, and returns the age of a cached one")
  func soft() async throws {
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.good)
    #expect(try await fixture.checks.check(fixture.chain, policy: .soft) == nil)
    // Joins the request that soft started.
    let given = try await fixture.checks.check(fixture.chain, policy: .hard)
    #expect(try await fixture.checks.check(fixture.chain, policy: .soft) == given)
    #expect(fixture.fetcher.count == 1)
  }

  @Test("A revoked certificate is rejected under soft and hard", arguments: [OnlineCheckPolicy.soft, .hard])
  func revoked(policy: OnlineCheckPolicy) async throws {
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.revoked)
    _ = try? await fixture.checks.check(fixture.chain, policy: .hard)
    let error = await #expect(throws: OnlineCheckError.self) {
      try await fixture.checks.check(fixture.chain, policy: policy)
    }
    #expect(error?.reason == "REVOKED_CERTIFICATE")
  }

  @Test("Expired, unknown and untrusted responses are unusable")
  func unusable() async throws {
    for response: (OpenSSLAuthority) throws -> [UInt8] in [
      { try $0.response(.unknown) }, { try $0.response(.good, signedBy: .stranger) }, { _ in [1, 2, 3] },
    ] {
      let fixture = try Fixture()
      fixture.fetcher.response = try response(fixture.authority)
      let error = await #expect(throws: OnlineCheckError.self) {
        try await fixture.checks.check(fixture.chain, policy: .hard)
      }
      #expect(error?.reason == "ONLINE_CHECK_UNAVAILABLE")
    }
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.good)
    fixture.advance(seconds: 2 * 86_400)
    let error = await #expect(throws: OnlineCheckError.self) {
      try await fixture.checks.check(fixture.chain, policy: .hard)
    }
    #expect(error == .unavailable("the OCSP response is expired", retryAfterMilliseconds: 10_000))
  }

  @Test("Certificates without a responder are not checked")
  func noResponder() async throws {
    let fixture = try Fixture()
    let chain = [fixture.authority.issuer, fixture.authority.root]
    #expect(try await fixture.checks.check(chain, policy: .hard) == nil)
    #expect(fixture.fetcher.count == 0)
  }

  @Test("An unknown certificate is unavailable under hard and passes under soft")
  func unknown() async throws {
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.unknown)
    let error = await #expect(throws: OnlineCheckError.self) {
      try await fixture.checks.check(fixture.chain, policy: .hard)
    }
    #expect(error?.reason == "ONLINE_CHECK_UNAVAILABLE")
    #expect(try await fixture.checks.check(fixture.chain, policy: .soft) != nil)
    #expect(fixture.fetcher.count == 1)
  }

  @Test("An expired response is not used under soft")
  func expiredUnderSoft() async throws {
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.revoked)
    _ = try? await fixture.checks.check(fixture.chain, policy: .hard)
    fixture.advance(seconds: 2 * 86_400)
    #expect(try await fixture.checks.check(fixture.chain, policy: .soft) == nil)
  }

  @Test("A clock that was set back does not prolong the wait after a failure")
  func clockSetBack() async throws {
    let fixture = try Fixture()
    _ = try? await fixture.checks.check(fixture.chain, policy: .hard)
    fixture.advance(seconds: -3_600)
    _ = try? await fixture.checks.check(fixture.chain, policy: .hard)
    #expect(fixture.fetcher.count == 2)
  }

  @Test("A request is limited in time and response size")
  func limits() async throws {
    let fixture = try Fixture()
    _ = try? await fixture.checks.check(fixture.chain, policy: .hard)
    #expect(fixture.fetcher.timeouts == [.seconds(5)])
    #expect(fixture.fetcher.sizeLimits == [65_536])
  }

  @Test("A response past the middle of its lifetime is renewed in the background")
  func renewal() async throws {
    let fixture = try Fixture()
    fixture.fetcher.response = try fixture.authority.response(.good)
    let first = try await fixture.checks.check(fixture.chain, policy: .hard)
    fixture.advance(seconds: 13 * 3600)
    // Does not wait: the cached response is still fresh although the network fails.
    fixture.fetcher.response = nil
    #expect(try await fixture.checks.check(fixture.chain, policy: .hard) == first)
    #expect(try await fixture.checks.check(fixture.chain, policy: .hard) == first)
  }
}

/// Checks of one authority's chain with a simulated network and clock.
private final class Fixture: Sendable {
  let authority: OpenSSLAuthority
  let fetcher = TestFetcher()
  let checks: OnlineChecks
  private let clock: TestClock

  init() throws {
    authority = try OpenSSLAuthority()
    let clock = TestClock(authority.now)
    self.clock = clock
    checks = OnlineChecks(fetcher: fetcher, now: { clock.now })
  }

  var chain: [Certificate] { [authority.leaf, authority.issuer, authority.root] }

  func advance(seconds: Int64) { clock.advance(by: .seconds(seconds)) }
}

/// A network that returns a set response, or fails.
private final class TestFetcher: OCSPFetcher {
  private struct State {
    var response: [UInt8]?
    var addresses: [String] = []
    var timeouts: [Duration] = []
    var sizeLimits: [Int] = []
  }
  private let state = Mutex(State())

  var response: [UInt8]? {
    get { state.withLock { $0.response } }
    set { state.withLock { $0.response = newValue } }
  }
  var addresses: [String] { state.withLock { $0.addresses } }
  var timeouts: [Duration] { state.withLock { $0.timeouts } }
  var sizeLimits: [Int] { state.withLock { $0.sizeLimits } }
  var count: Int { addresses.count }

  func fetch(
    _ request: OCSPRequest, from address: String, timeout: Duration, limit: Int
  ) async throws(OCSPFetchError) -> [UInt8] {
    let response = state.withLock { state in
      state.addresses.append(address)
      state.timeouts.append(timeout)
      state.sizeLimits.append(limit)
      return state.response
    }
    guard let response else { throw OCSPFetchError("no network") }
    return response
  }
}
