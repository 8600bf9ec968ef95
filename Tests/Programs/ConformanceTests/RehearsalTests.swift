import AppStore
import Conformance
import JSON
import SignedData
import Synchronization
import Testing

/// A rehearsal against backends in this process.
@Suite struct RehearsalTests {
  /// An App Store that signs with chains that it makes, and records the calls.
  private final class Store: RotatingAppStore {
    private struct State {
      var signer: JWSSigner
      var calls: [String] = []
      var purchases = 0
    }

    private static let start = Instant(millisecondsSince1970: 1_767_225_600_000)
    private let state: Mutex<State>
    var calls: [String] { state.withLock { $0.calls } }

    init() throws { state = Mutex(State(signer: try Self.signer())) }

    private static func signer() throws(CryptographyError) -> JWSSigner {
      let end = start.advanced(byMilliseconds: 86_400_000)
      func name(_ text: String) -> DistinguishedName { DistinguishedName([("CN", text)]) }
      let root = try CertificateIssuer.root(name("R"), key: .generate(.p384), from: start, until: end)
      let issuer = try root.intermediate(name("I"), key: .generate(.p384), from: start, until: end)
      let key = try SigningKey.generate(.p256)
      let leaf = try issuer.leaf(name("L"), key: key, from: start, until: end)
      return JWSSigner(key: key, chain: [leaf, issuer.certificate, root.certificate])
    }

    func document(_ kind: RehearsedDocument.Kind) throws(RehearsalFailure) -> String? {
      if kind == .renewalInfo { return nil }
      let document = state.withLock { state -> String? in
        state.purchases += 1
        return try? state.signer.sign(payload: ["transactionId": .string("\(state.purchases)")])
      }
      return document
    }

    func rotate(_ certificate: RotatedCertificate, revoking: Bool) throws(RehearsalFailure) {
      record("rotate \(certificate) \(revoking)")
      guard let signer = try? Self.signer() else { throw RehearsalFailure("no key") }
      state.withLock { $0.signer = signer }
    }

    func setFuture(fields: Bool, types: Bool) { record("future \(fields) \(types)") }

    func revokeKey(_ id: String) { record("revoke \(id)") }

    private func record(_ call: String) { state.withLock { $0.calls.append(call) } }
  }

  /// A backend that knows every document that the App Store makes by its origin, but for those that a test names.
  private struct Backend: RehearsedBackend {
    var refuses: @Sendable (RehearsedDocument) -> Bool = { _ in false }
    var accepts: @Sendable (RehearsedDocument) -> Bool = { _ in false }
    var fetches = VerificationAnswer.unsupported
    var failure: BackendFailure?

    func verify(_ document: RehearsedDocument) throws(BackendFailure) -> VerificationAnswer {
      if let failure { throw failure }
      if document.kind == .receipt { return .unsupported }
      return (document.origin == .genuine ? !refuses(document) : accepts(document))
        ? .accepted(payload: nil) : .rejected(reason: "UNTRUSTED")
    }

    func fetch(transaction id: String) -> VerificationAnswer { fetches }
  }

  private func report(
    _ stages: [RehearsalStage], _ store: Store, _ backend: Backend,
    apiKey: String? = nil
  ) async throws -> RehearsalReport {
    try await Rehearsal(stages, of: store, against: backend, apiKey: apiKey)
      .report { _ throws(RehearsalFailure) in }
  }

  @Test("A correct backend passes every stage, which the App Store goes through in order")
  func correct() async throws {
    let store = try Store()
    let report = try await report(
      RehearsalStage.allCases, store, Backend(fetches: .accepted(payload: nil)), apiKey: "KEY1")
    #expect(report.isPassed(strict: true))
    #expect(report.counts.map(\.stage) == RehearsalStage.allCases)
    #expect(report.counts.map(\.forged) == RehearsalStage.allCases.map { _ in 8 })
    #expect(report.counts.map(\.genuine) == [4] + RehearsalStage.allCases.dropFirst().map { _ in 7 })
    #expect(report.counts.filter { $0.revoked > 0 }.map(\.stage) == [.revokedLeaf, .revokedIntermediate])
    #expect(
      store.calls == [
        "rotate leaf false", "rotate intermediate false", "rotate root false", "rotate leaf false",
        "rotate leaf true", "rotate intermediate false", "rotate intermediate true", "revoke KEY1",
        "future true false", "future false true", "future false false",
      ])
  }

  @Test("Without an API key its stage is left out")
  func withoutKey() async throws {
    let store = try Store()
    let report = try await report([.apiKey, .unchanged], store, Backend())
    #expect(report.counts.map(\.stage) == [.unchanged] && report.counts[0].skipped == 2)
  }

  @Test("A refused genuine document fails the rehearsal, and the report names stage, document and reason")
  func refusing() async throws {
    let backend = Backend(refuses: { $0.name == "notification of the stage before" })
    let report = try await report([.unchanged, .leaf], Store(), backend)
    #expect(!report.isPassed(strict: false))
    #expect(report.counts.map(\.refused) == [0, 1])
    let finding = try #require(report.json(strict: false)["findings"]?.arrayValue?.first?.objectValue)
    #expect(finding["stage"] == "leaf" && finding["document"] == "notification of the stage before")
    #expect(
      finding["origin"] == "genuine" && finding["outcome"] == "refused" && finding["reason"] == "UNTRUSTED")
    #expect(report.text.contains("REFUSED  genuine  leaf/notification of the stage before"))
  }

  @Test("Accepted forged and revoked documents are reported, and fail a strict rehearsal")
  func accepting() async throws {
    let revoked = try await report([.revokedLeaf], Store(), Backend(accepts: { $0.origin == .revoked }))
    #expect(revoked.isPassed(strict: false) && !revoked.isPassed(strict: true))
    #expect(revoked.counts.map(\.revokedAccepted) == [3])
    let forged = try await report(
      [.unchanged], Store(), Backend(accepts: { $0.name.hasSuffix("of a foreign chain") }))
    #expect(forged.counts.map(\.forgedAccepted) == [2] && !forged.isPassed(strict: true))
    #expect(forged.text.contains("ACCEPTED  forged  unchanged/transaction of a foreign chain"))
    #expect(forged.json(strict: true)["passed"] == false)
  }

  @Test("A backend that fails refuses genuine documents")
  func failing() async throws {
    let report = try await report([.unchanged], Store(), Backend(failure: BackendFailure("HTTP 500")))
    #expect(!report.isPassed(strict: false) && report.counts[0].refused == report.counts[0].genuine)
    #expect(report.text.contains("no answer: HTTP 500"))
  }

  @Test("A rehearsal ends at the first document for which the backend is unreachable")
  func unreachable() async throws {
    let store = try Store()
    let backend = Backend(failure: BackendFailure("connection refused", isUnreachable: true))
    let failure = await #expect(throws: RehearsalFailure.self) {
      _ = try await report([.unchanged, .leaf], store, backend)
    }
    #expect(failure?.isOfBackend == true)
    #expect(failure?.description.hasSuffix("unchanged/transaction: connection refused") == true)
    #expect(store.calls == ["future false false"])
  }

  @Test("A failed preparation ends the rehearsal, and documents are as before")
  func failedPreparation() async throws {
    let store = try Store()
    await #expect(throws: RehearsalFailure("stop")) {
      try await Rehearsal([.fields, .types], of: store, against: Backend())
        .report { stage throws(RehearsalFailure) in if stage == .types { throw RehearsalFailure("stop") } }
    }
    #expect(store.calls == ["future true false", "future false false"])
  }
}
