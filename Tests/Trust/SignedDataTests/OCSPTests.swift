import AppStore
import Foundation
import Testing

@testable import SignedData

/// Answers of the `openssl ocsp` command, written by others, about certificates made here.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl command"))
struct OCSPTests {
  @Test("The authority's word is read: good, revoked with its moment, unknown")
  func statuses() throws {
    let authority = try OpenSSLAuthority()
    let good = try authority.answer(.good)
    #expect(good.status == .good)
    #expect(good.isFresh(at: authority.now))
    #expect(good.nextUpdate == good.thisUpdate.advanced(byMilliseconds: 86_400_000))
    #expect(try authority.answer(.revoked).status == .revoked(OpenSSLAuthority.revokedAt))
    #expect(try authority.answer(.unknown).status == .unknown)
  }

  @Test("Whoever the authority gave the right may answer for it")
  func delegated() throws {
    let authority = try OpenSSLAuthority()
    #expect(try authority.answer(.good, signedBy: .delegate).status == .good)
  }

  @Test("An answer that others signed is not believed: a stranger, another leaf of the same authority")
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

  @Test("A changed answer is not believed")
  func altered() throws {
    let authority = try OpenSSLAuthority()
    var response = try authority.response(.revoked)
    // In the part that is signed, behind the responder's name.
    response[80] ^= 0x40
    #expect(throws: OCSPError.self) {
      try OCSPResponse(
        response: response, for: authority.leaf, issuer: authority.issuer, at: authority.now)
    }
  }

  @Test("An answer about another certificate does not count for this one")
  func others() throws {
    let authority = try OpenSSLAuthority()
    let response = try authority.response(.good)
    #expect(throws: OCSPError.aboutOthers) {
      try OCSPResponse(
        response: response, for: authority.otherLeaf, issuer: authority.issuer, at: authority.now)
    }
  }

  @Test(
    "What is no answer is refused with the reason", arguments: [[], [0x30], [0x30, 0x03, 0x0A, 0x01, 0x03]])
  func malformed(bytes: [UInt8]) throws {
    let authority = try OpenSSLAuthority()
    let error = #expect(throws: OCSPError.self) {
      try OCSPResponse(response: bytes, for: authority.leaf, issuer: authority.issuer, at: authority.now)
    }
    if bytes.count == 5 { #expect(error == .refused("trylater")) }
  }

  @Test("An answer is fresh from its moment to its end, with a minute for clocks that differ")
  func freshness() throws {
    let authority = try OpenSSLAuthority()
    let answer = try authority.answer(.good)
    let end = try #require(answer.nextUpdate)
    #expect(answer.isFresh(at: answer.thisUpdate.advanced(byMilliseconds: -60_000)))
    #expect(!answer.isFresh(at: answer.thisUpdate.advanced(byMilliseconds: -60_001)))
    #expect(answer.isFresh(at: end.advanced(byMilliseconds: 60_000)))
    #expect(!answer.isFresh(at: end.advanced(byMilliseconds: 60_001)))
  }

  @Test("A certificate names its responder, if it has one")
  func responder() throws {
    let authority = try OpenSSLAuthority()
    #expect(authority.leaf.ocspResponder == "http://ocsp.example.com/a")
    #expect(authority.issuer.ocspResponder == nil)
  }
}
