import AppStore
import Foundation
import Testing

@testable import SignedData

/// Responses of the `openssl ocsp` command about certificates issued by the tests.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl command"))
struct OCSPTests {
  @Test("The status is decoded: good, revoked with its time, unknown")
  func statuses() throws {
    let authority = try OpenSSLAuthority()
    let good = try authority.answer(.good)
    #expect(good.status == .good)
    #expect(good.isFresh(at: authority.now))
    #expect(good.nextUpdate == good.thisUpdate.advanced(byMilliseconds: 86_400_000))
    #expect(try authority.answer(.revoked).status == .revoked(OpenSSLAuthority.revokedAt))
    #expect(try authority.answer(.unknown).status == .unknown)
  }

  @Test("A response signed by a delegated responder verifies")
  func delegated() throws {
    let authority = try OpenSSLAuthority()
    #expect(try authority.answer(.good, signedBy: .delegate).status == .good)
  }

  @Test("A response signed by a stranger or by another leaf of the authority is rejected")
  func strangers() throws {
    let authority = try OpenSSLAuthority()
    for signer in [OpenSSLAuthority.Signer.stranger, .leaf] {
      let error = #expect(throws: OCSPError.self) { try authority.answer(.good, signedBy: signer) }
      guard case .notSignedByAuthority = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test("An altered response is rejected")
  func altered() throws {
    let authority = try OpenSSLAuthority()
    var response = try authority.response(.revoked)
    // In the signed part, after the responder's name.
    response[80] ^= 0x40
    #expect(throws: OCSPError.self) {
      try OCSPResponse(
        response: response, for: authority.leaf, issuer: authority.issuer, at: authority.now)
    }
  }

  @Test("A response about another certificate is rejected")
  func others() throws {
    let authority = try OpenSSLAuthority()
    let response = try authority.response(.good)
    #expect(throws: OCSPError.otherCertificate) {
      try OCSPResponse(
        response: response, for: authority.otherLeaf, issuer: authority.issuer, at: authority.now)
    }
  }

  @Test(
    "Malformed responses and error statuses are rejected with the reason",
    arguments: [[], [0x30], [0x30, 0x03, 0x0A, 0x01, 0x03]])
  func malformed(bytes: [UInt8]) throws {
    let authority = try OpenSSLAuthority()
    let error = #expect(throws: OCSPError.self) {
      try OCSPResponse(response: bytes, for: authority.leaf, issuer: authority.issuer, at: authority.now)
    }
    if bytes.count == 5 { #expect(error == .errorStatus("trylater")) }
  }

  @Test("A response is fresh from thisUpdate to nextUpdate, with a minute of clock skew")
  func freshness() throws {
    let authority = try OpenSSLAuthority()
    let answer = try authority.answer(.good)
    let end = try #require(answer.nextUpdate)
    #expect(answer.isFresh(at: answer.thisUpdate.advanced(byMilliseconds: -60_000)))
    #expect(!answer.isFresh(at: answer.thisUpdate.advanced(byMilliseconds: -60_001)))
    #expect(answer.isFresh(at: end.advanced(byMilliseconds: 60_000)))
    #expect(!answer.isFresh(at: end.advanced(byMilliseconds: 60_001)))
  }

  @Test("A response without nextUpdate is fresh for one hour")
  func freshnessWithoutEnd() throws {
    let authority = try OpenSSLAuthority()
    let answer = try authority.answer(.good, days: nil)
    #expect(answer.nextUpdate == nil)
    let end = answer.thisUpdate.advanced(byMilliseconds: 3_600_000 + 60_000)
    #expect(answer.isFresh(at: end))
    #expect(!answer.isFresh(at: end.advanced(byMilliseconds: 1)))
  }

  @Test("A request has no nonce and differs between certificates")
  func request() throws {
    let authority = try OpenSSLAuthority()
    let request = try OCSPRequest(for: authority.leaf, issuer: authority.issuer)
    #expect(try OCSPRequest(for: authority.leaf, issuer: authority.issuer) == request)
    #expect(try OCSPRequest(for: authority.otherLeaf, issuer: authority.issuer) != request)
  }

  @Test("A certificate without an OCSP extension has no responder")
  func responder() throws {
    let authority = try OpenSSLAuthority()
    #expect(authority.leaf.ocspResponder == "http://ocsp.example.com/a")
    #expect(authority.issuer.ocspResponder == nil)
  }
}
