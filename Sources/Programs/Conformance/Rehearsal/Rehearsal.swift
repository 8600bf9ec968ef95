internal import SignedData

/// Makes the App Store rotate its certificates and extend its documents, and sends a backend what results: genuine
/// documents, which it must accept, forged ones and those of revoked certificates.
///
/// In each stage it also sends the genuine documents of the stage before, because notifications may arrive late.
package struct Rehearsal {
  private let appStore: any RotatingAppStore
  private let backend: any RehearsedBackend
  private let stages: [RehearsalStage]
  /// The id of the API key that ``RehearsalStage/apiKey`` revokes.
  private let apiKey: String?

  /// A rehearsal of these stages in this order; without `apiKey` that of the API key is left out.
  package init(
    _ stages: [RehearsalStage], of appStore: any RotatingAppStore, against backend: any RehearsedBackend,
    apiKey: String? = nil
  ) {
    self.appStore = appStore
    self.backend = backend
    self.apiKey = apiKey
    self.stages = stages.filter { $0 != .apiKey || apiKey != nil }
  }

  /// Runs the stages. In the end the documents have no unknown members and types; new certificates stay in force.
  ///
  /// - prepare: called before each stage, while the App Store is still as before it.
  /// - Throws: ``RehearsalFailure``, also at the first document for which the backend is unreachable; a backend with
  ///   another failure refuses the document.
  package func report(
    prepare: (RehearsalStage) async throws(RehearsalFailure) -> Void
  ) async throws(RehearsalFailure) -> RehearsalReport {
    do throws(RehearsalFailure) {
      let report = try await run(prepare)
      try await appStore.setFuture(fields: false, types: false)
      return report
    } catch {
      // The failure is what the caller must know; a sandbox that failed may not answer this either.
      try? await appStore.setFuture(fields: false, types: false)
      throw error
    }
  }

  /// Runs the stages in order.
  private func run(
    _ prepare: (RehearsalStage) async throws(RehearsalFailure) -> Void
  ) async throws(RehearsalFailure) -> RehearsalReport {
    var report = RehearsalReport()
    var earlier: [RehearsedDocument] = []
    for stage in stages {
      try await prepare(stage)
      let revoked = try await change(to: stage)
      let genuine = try await genuineDocuments()
      for document in try genuine + earlier + forged(genuine) + revoked {
        report.add(try await result(of: document, in: stage))
      }
      if let id = genuine.lazy.compactMap(\.transactionID).first {
        report.add(try await fetched(id, in: stage))
      }
      earlier = genuine.map { $0.earlier() }
    }
    return report
  }

  /// Changes the App Store; returns documents of certificates that the stage revokes, which the backend has not seen.
  private func change(to stage: RehearsalStage) async throws(RehearsalFailure) -> [RehearsedDocument] {
    switch stage {
    case .unchanged: break
    case .leaf: try await appStore.rotate(.leaf, revoking: false)
    case .intermediate: try await appStore.rotate(.intermediate, revoking: false)
    case .root: try await appStore.rotate(.root, revoking: false)
    case .revokedLeaf: return try await revoke(.leaf)
    case .revokedIntermediate: return try await revoke(.intermediate)
    case .apiKey: if let apiKey { try await appStore.revokeKey(apiKey) }
    case .fields: try await appStore.setFuture(fields: true, types: false)
    case .types: try await appStore.setFuture(fields: false, types: true)
    }
    return []
  }

  /// Revokes a new certificate, because backends keep the OCSP responses about those that they have seen.
  private func revoke(_ certificate: RotatedCertificate) async throws(RehearsalFailure) -> [RehearsedDocument]
  {
    try await appStore.rotate(certificate, revoking: false)
    let documents = try await genuineDocuments()
    try await appStore.rotate(certificate, revoking: true)
    return documents.map { $0.revoked() }
  }

  /// A new document of each kind that the App Store has.
  private func genuineDocuments() async throws(RehearsalFailure) -> [RehearsedDocument] {
    var documents: [RehearsedDocument] = []
    for kind in RehearsedDocument.Kind.allCases {
      guard let document = try await appStore.document(kind) else { continue }
      documents.append(
        RehearsedDocument(kind, text: RehearsedDocument.text(kind, of: document), origin: .genuine))
    }
    return documents
  }

  /// The forged forms of the transaction and the notification.
  private func forged(_ genuine: [RehearsedDocument]) throws(RehearsalFailure) -> [RehearsedDocument] {
    var documents: [RehearsedDocument] = []
    for document in genuine where document.kind == .transaction || document.kind == .notification {
      for forgery in Forgery.allCases {
        do throws(CryptographyError) {
          if let forged = try forgery.applied(to: document) { documents.append(forged) }
        } catch {
          throw RehearsalFailure("cannot forge a document: \(error)")
        }
      }
    }
    return documents
  }

  /// The backend's verdict about a document.
  private func result(of document: RehearsedDocument, in stage: RehearsalStage)
    async throws(RehearsalFailure) -> RehearsalResult
  {
    let outcome = try await outcome("\(stage.rawValue)/\(document.name)") { () async throws(BackendFailure) in
      try await backend.verify(document)
    }
    return RehearsalResult(stage: stage, document: document.name, origin: document.origin, outcome: outcome)
  }

  /// The backend's verdict about a transaction that it fetches itself.
  private func fetched(_ id: String, in stage: RehearsalStage)
    async throws(RehearsalFailure) -> RehearsalResult
  {
    let name = "transaction that the backend fetches"
    let outcome = try await outcome("\(stage.rawValue)/\(name)") { () async throws(BackendFailure) in
      try await backend.fetch(transaction: id)
    }
    return RehearsalResult(stage: stage, document: name, origin: .genuine, outcome: outcome)
  }

  /// Returns the outcome of a call of the backend about the document `name`.
  ///
  /// - Throws: ``RehearsalFailure`` if the backend is unreachable.
  private func outcome(
    _ name: String, _ call: () async throws(BackendFailure) -> VerificationAnswer
  ) async throws(RehearsalFailure) -> RehearsalResult.Outcome {
    do throws(BackendFailure) { return .init(try await call()) } catch {
      guard !error.isUnreachable else {
        throw RehearsalFailure("the rehearsal ended at \(name): \(error)", isOfBackend: true)
      }
      return .refused("no answer: \(error)")
    }
  }
}
