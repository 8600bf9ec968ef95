import AppStore
import TestSupport
import Testing

@testable import SignedData

/// The responder's answers, read as those of other authorities are.
@Suite struct OCSPResponderTests {
  private let now = TestChain.middle
  private var later: Instant { now.advanced(byMilliseconds: 43_200_000) }

  /// A root, an authority under it and its leaf, all of which name a responder.
  private struct Authority {
    let root: CertificateIssuer
    let issuer: CertificateIssuer
    let leaf: Certificate

    init() throws {
      let (start, end) = (TestChain.start, TestChain.end)
      root = try .root(
        DistinguishedName([("CN", "Root")]), key: .generate(.p384), from: start, until: end)
      issuer = try root.intermediate(
        DistinguishedName([("CN", "Issuer")]), key: .generate(.p384), from: start, until: end,
        responder: "http://127.0.0.1:1/ocsp")
      leaf = try issuer.leaf(
        DistinguishedName([("CN", "Leaf")]), key: .generate(.p256), from: start, until: end,
        responder: "http://127.0.0.1:1/ocsp")
    }

    var responder: OCSPResponder { OCSPResponder(issuers: [issuer, root]) }
  }

  private func answer(
    _ responder: OCSPResponder, about certificate: Certificate, under issuer: Certificate,
    _ status: OCSPResponse.Status
  ) throws -> OCSPResponse {
    let response = try responder.response(
      to: OCSPRequest(for: certificate, issuer: issuer).der, saying: status, from: now, until: later)
    return try OCSPResponse(response: response, for: certificate, issuer: issuer, at: now)
  }

  @Test("A certificate names its responder, and one that was made without does not")
  func address() throws {
    #expect(try Authority().leaf.ocspResponder == "http://127.0.0.1:1/ocsp")
    #expect(try TestChain().leaf.ocspResponder == nil)
  }

  @Test("What it says is believed of leaf and intermediate: good, revoked with its moment, unknown")
  func statuses() throws {
    let authority = try Authority()
    for status in [OCSPResponse.Status.good, .revoked(TestChain.start), .unknown] {
      let ofLeaf = try answer(
        authority.responder, about: authority.leaf, under: authority.issuer.certificate, status)
      #expect((ofLeaf.status, ofLeaf.thisUpdate) == (status, now))
      #expect(ofLeaf.nextUpdate == later)
      let ofIssuer = try answer(
        authority.responder, about: authority.issuer.certificate, under: authority.root.certificate, status)
      #expect(ofIssuer.status == status)
    }
  }

  @Test("It answers for its own authorities alone, and not what it cannot read")
  func others() throws {
    let authority = try Authority()
    let stranger = try TestChain()
    #expect(throws: OCSPError.refused("unauthorized")) {
      try answer(authority.responder, about: stranger.leaf, under: stranger.intermediate, .good)
    }
    for bytes: [UInt8] in [[], [1, 2, 3], [0x30, 0x04, 0x30, 0x02, 0x30, 0x00]] {
      let response = try authority.responder.response(to: bytes, saying: .good, from: now, until: later)
      #expect(throws: OCSPError.refused("malformedrequest")) {
        try OCSPResponse(
          response: response, for: authority.leaf, issuer: authority.issuer.certificate, at: now)
      }
    }
  }
}
