internal import AppStore
internal import Callers
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One piece of evidence as a verified document, or one command.
enum EvidencePage {
  /// `GET …/evidence/ID`. With `body`, the role `admin` also sees the bytes as they arrived.
  static func page(_ number: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    guard let id = Int64(number), id > 0 else { throw .noSuchPage }
    let evidence = try await visit.call(
      Calls.getEvidence,
      .with {
        $0.app = scope.app
        $0.evidenceId = id
        $0.includeBody = visit.value("body") != nil && visit.has(.admin)
      })
    // Evidence ids are unique across environments, so the address may name another one than the evidence has.
    let scope = scope.of(evidence.environment)
    let isRejected = !evidence.rejectionReason.isEmpty
    let verdict =
      isRejected ? Part.chip("✕ \(evidence.rejectionReason)", .none) : Part.chip("✓ \(Text.accepted)", .full)
    let body: Markup = """
      <h1>\(Text.evidenceTitle(evidence.evidenceId)): \(Format.words(evidence.kind))</h1>
      <p>\(verdict)</p>
      \(properties(evidence, scope, visit))
      \(await undo(evidence, scope, visit))
      \(evidence.document.map(DocumentMarkup.document) ?? "")
      \(command(evidence))
      \(events(evidence, scope))
      \(verbatim(evidence, scope, visit))
      """
    return Page(Text.evidenceTitle(evidence.evidenceId), in: scope, section: .customers, body: body)
  }

  private static func properties(
    _ evidence: GetEvidenceResponse, _ scope: Scope, _ visit: Visit
  ) -> Markup {
    let customers = evidence.customerIds.map { scope.customerLink($0) }
    let purchases = evidence.originalTransactionIds.map { scope.purchaseLink($0) }
    return Table.properties([
      (Text.arrived, Format.time(evidence.receivedAt)), (Text.source, "\(Format.words(evidence.source))"),
      (Text.environment, "\(evidence.environment.slug)"),
      (Text.customer, customers.isEmpty ? nil : customers.joined(separator: ", ")),
      (Text.purchases, purchases.isEmpty ? nil : purchases.joined(separator: ", ")),
      (Text.actor, evidence.actor.given.map(Format.name)),
      (Text.reason, evidence.note.given.map(visit.links.note)),
      (Text.size, "\(Format.size(evidence.size))\(evidence.hasBody ? "" : " · \(Text.purged)")"),
      (Text.digest, Format.id(evidence.sha256)),
    ])
  }

  /// The action that reverts a command: the undo of a link, merge or transfer, and the end of a grant that is in force.
  private static func undo(_ evidence: GetEvidenceResponse, _ scope: Scope, _ visit: Visit) async -> Markup {
    let found: (action: ActionName, field: String)? =
      switch evidence.kind {
      case "MERGE", "MOVE": (.undo, "transfer")
      case "GRANT": (.revoke, "grant")
      default: nil
      }
    guard let (action, field) = found, action.isOpen(to: visit) else { return "" }
    let id = "\(field)-\(evidence.evidenceId)"
    let customer = evidence.customerIds.first
    if action == .revoke, await !isRevocable(id, of: customer ?? "", scope, visit) { return "" }
    let link = scope.action(action, [(field, id), ("customer", customer)])
    return "<p class=\"actions\"><a class=\"button\" href=\"\(link)\">\(action.title)…</a></p>"
  }

  private static func isRevocable(
    _ grant: String, of customer: String, _ scope: Scope, _ visit: Visit
  ) async -> Bool {
    let answer = await visit.attempt(Calls.getCustomer, .about(customer, in: scope))
    guard let found = try? answer.get(), let now = found.evaluatedAt?.instant else { return false }
    return found.grants.contains { $0.grantId == grant && $0.isRevocable(at: now) }
  }

  private static func command(_ evidence: GetEvidenceResponse) -> Markup {
    guard !evidence.commandJson.isEmpty else { return "" }
    return "<h2>\(Text.command)</h2>\n\(DocumentMarkup.payload(evidence.commandJson))"
  }

  private static func events(_ evidence: GetEvidenceResponse, _ scope: Scope) -> Markup {
    guard !evidence.events.isEmpty else { return "<h2>\(Text.effects)</h2>" + Part.empty(Text.noEffects) }
    return "<h2>\(Text.effects)</h2>"
      + Table.markup(
        Text.effects,
        heads: [
          Text.when, Text.customer, Text.entitlement, Text.what, Text.inWords, Text.actor, Text.eventHead,
        ],
        rows: evidence.events.map { EventPage.cells($0, scope) })
  }

  /// The bytes as they arrived: for admins, on demand, because they are data of a person.
  private static func verbatim(_ evidence: GetEvidenceResponse, _ scope: Scope, _ visit: Visit) -> Markup {
    guard evidence.hasBody, visit.has(.admin) else { return "" }
    guard !evidence.body.isEmpty else {
      let link = Link(scope.path + ["evidence", String(evidence.evidenceId)], query: [("body", "1")])
      return "<p><a href=\"\(link)\">\(Text.showVerbatim)</a></p>"
    }
    return
      "<h2>\(Text.verbatim)</h2><pre tabindex=\"0\">\(String(decoding: evidence.body, as: UTF8.self))</pre>"
  }
}
