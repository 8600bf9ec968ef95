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
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.good)
    #expect(try await setup.checks.check(setup.chain, policy: .off) == nil)
    #expect(setup.fetcher.count == 0)

    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask { (try? await setup.checks.check(setup.chain, policy: .hard)) != nil }
      }
      for await passed in group { #expect(passed) }
    }
    #expect(setup.fetcher.count == 1)
    #expect(setup.fetcher.addresses == ["http://ocsp.example.com/a"])
  }

  @Test("A network failure is reported as unavailable and not retried for ten seconds")
  func unavailable() async throws {
    let setup = try Setup()
    let error = await #expect(throws: OnlineCheckError.self) {
      try await setup.checks.check(setup.chain, policy: .hard)
    }
    #expect(error == .unavailable("no network", retryAfterMilliseconds: 10_000))
    setup.advance(seconds: 4)
    let again = await #expect(throws: OnlineCheckError.self) {
      try await setup.checks.check(setup.chain, policy: .hard)
    }
    #expect(again == .unavailable("the last OCSP request failed", retryAfterMilliseconds: 6_000))
    #expect(setup.fetcher.count == 1)

    setup.fetcher.response = try setup.authority.response(.good)
    setup.advance(seconds: 6)
    #expect(try await setup.checks.check(setup.chain, policy: .hard) != nil)
    #expect(setup.fetcher.count == 2)
  }

  @Test("Policy soft passes without a response, and returns the age of a cached one")
  func soft() async throws {
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.good)
    #expect(try await setup.checks.check(setup.chain, policy: .soft) == nil)
    // Joins the request that soft started.
    let given = try await setup.checks.check(setup.chain, policy: .hard)
    #expect(try await setup.checks.check(setup.chain, policy: .soft) == given)
    #expect(setup.fetcher.count == 1)
  }

  @Test("A revoked certificate is rejected under soft and hard", arguments: [OnlineCheckPolicy.soft, .hard])
  func revoked(policy: OnlineCheckPolicy) async throws {
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.revoked)
    _ = try? await setup.checks.check(setup.chain, policy: .hard)
    let error = await #expect(throws: OnlineCheckError.self) {
      try await setup.checks.check(setup.chain, policy: policy)
    }
    #expect(error?.reason == "REVOKED_CERTIFICATE")
  }

  @Test("Expired, unknown and untrusted responses are unusable")
  func unusable() async throws {
    for response: (OpenSSLAuthority) throws -> [UInt8] in [
      { try $0.response(.unknown) }, { try $0.response(.good, signedBy: .stranger) }, { _ in [1, 2, 3] },
    ] {
      let setup = try Setup()
      setup.fetcher.response = try response(setup.authority)
      let error = await #expect(throws: OnlineCheckError.self) {
        try await setup.checks.check(setup.chain, policy: .hard)
      }
      #expect(error?.reason == "ONLINE_CHECK_UNAVAILABLE")
    }
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.good)
    setup.advance(seconds: 2 * 86_400)
    let error = await #expect(throws: OnlineCheckError.self) {
      try await setup.checks.check(setup.chain, policy: .hard)
    }
    #expect(error == .unavailable("the OCSP response is expired", retryAfterMilliseconds: 10_000))
  }

  @Test("Certificates without a responder are not checked")
  func noResponder() async throws {
    let setup = try Setup()
    let chain = [setup.authority.issuer, setup.authority.root]
    #expect(try await setup.checks.check(chain, policy: .hard) == nil)
    #expect(setup.fetcher.count == 0)
  }

  @Test("An unknown certificate is unavailable under hard and passes under soft")
  func unknown() async throws {
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.unknown)
    let error = await #expect(throws: OnlineCheckError.self) {
      try await setup.checks.check(setup.chain, policy: .hard)
    }
    #expect(error?.reason == "ONLINE_CHECK_UNAVAILABLE")
    #expect(try await setup.checks.check(setup.chain, policy: .soft) != nil)
    #expect(setup.fetcher.count == 1)
  }

  @Test("An expired response is not used under soft")
  func expiredUnderSoft() async throws {
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.revoked)
    _ = try? await setup.checks.check(setup.chain, policy: .hard)
    setup.advance(seconds: 2 * 86_400)
    #expect(try await setup.checks.check(setup.chain, policy: .soft) == nil)
  }

  @Test("A clock that was set back does not prolong the wait after a failure")
  func clockSetBack() async throws {
    let setup = try Setup()
    _ = try? await setup.checks.check(setup.chain, policy: .hard)
    setup.advance(seconds: -3_600)
    _ = try? await setup.checks.check(setup.chain, policy: .hard)
    #expect(setup.fetcher.count == 2)
  }

  @Test("A request is limited in time and response size")
  func limits() async throws {
    let setup = try Setup()
    _ = try? await setup.checks.check(setup.chain, policy: .hard)
    #expect(setup.fetcher.timeouts == [.seconds(5)])
    #expect(setup.fetcher.sizeLimits == [65_536])
  }

  @Test("A response past the middle of its lifetime is renewed in the background")
  func renewal() async throws {
    let setup = try Setup()
    setup.fetcher.response = try setup.authority.response(.good)
    let first = try await setup.checks.check(setup.chain, policy: .hard)
    setup.advance(seconds: 13 * 3600)
    // Does not wait: the cached response is still fresh although the network fails.
    setup.fetcher.response = nil
    #expect(try await setup.checks.check(setup.chain, policy: .hard) == first)
    #expect(try await setup.checks.check(setup.chain, policy: .hard) == first)
  }
}

/// Checks of one authority's chain with a simulated network and clock.
private final class Setup: Sendable {
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
