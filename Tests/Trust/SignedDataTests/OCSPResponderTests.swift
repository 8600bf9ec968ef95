import AppStore
import TestSupport
import Testing

@testable import SignedData

/// The responder's responses, verified like those of other authorities.
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

  @Test("A certificate has the responder that it was issued with, or none")
  func address() throws {
    #expect(try Authority().leaf.ocspResponder == "http://127.0.0.1:1/ocsp")
    #expect(try TestChain().leaf.ocspResponder == nil)
  }

  @Test("A certificate in the list of revocations is revoked, another one of its issuer is good")
  func revocations() throws {
    let authority = try Authority()
    let other = try authority.issuer.leaf(
      DistinguishedName([("CN", "Leaf")]), key: .generate(.p256), from: TestChain.start, until: TestChain.end)
    #expect(other.serialNumber != authority.leaf.serialNumber)
    for (leaf, status) in [(authority.leaf, OCSPResponse.Status.revoked(TestChain.start)), (other, .good)] {
      let response = try authority.responder.response(
        to: OCSPRequest(for: leaf, issuer: authority.issuer.certificate).der, saying: .good,
        revoked: [authority.leaf.serialNumber: TestChain.start], from: now, until: later)
      let read = try OCSPResponse(
        response: response, for: leaf, issuer: authority.issuer.certificate, at: now)
      #expect(read.status == status)
    }
  }

  @Test("Responses about leaf and intermediate verify: good, revoked with its time, unknown")
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

  @Test("A response is rejected when the issuer's certificate has expired")
  func expiredIssuer() throws {
    let authority = try Authority()
    let after = TestChain.end.advanced(byMilliseconds: 86_400_000)
    let issuer = authority.issuer.certificate
    let response = try authority.responder.response(
      to: OCSPRequest(for: authority.leaf, issuer: issuer).der, saying: .good, from: after,
      until: after.advanced(byMilliseconds: 43_200_000))
    let error = #expect(throws: OCSPError.self) {
      try OCSPResponse(response: response, for: authority.leaf, issuer: issuer, at: after)
    }
    guard case .notSignedByAuthority = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("The responder rejects other authorities' certificates and malformed requests")
  func others() throws {
    let authority = try Authority()
    let stranger = try TestChain()
    #expect(throws: OCSPError.errorStatus("unauthorized")) {
      try answer(authority.responder, about: stranger.leaf, under: stranger.intermediate, .good)
    }
    for bytes: [UInt8] in [[], [1, 2, 3], [0x30, 0x04, 0x30, 0x02, 0x30, 0x00]] {
      let response = try authority.responder.response(to: bytes, saying: .good, from: now, until: later)
      #expect(throws: OCSPError.errorStatus("malformedrequest")) {
        try OCSPResponse(
          response: response, for: authority.leaf, issuer: authority.issuer.certificate, at: now)
      }
    }
  }
}
