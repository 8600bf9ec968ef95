internal import AppStore
internal import JSON
internal import Markup
internal import Pages
internal import RPC
internal import Wire

// Disagreements with RevenueCat's webhooks, with the evidence of both sides.
extension WorkRows {
  static func disagreements(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(Calls.listDisagreements, .page(page, in: scope))
    return WorkRows(rows: response.disagreements.map { row($0, scope) }, next: response.nextPageToken)
  }

  private static func row(_ one: Disagreement, _ scope: Scope) -> Row {
    Row(
      cells: [
        scope.customerLink(one.customerId),
        Format.name(one.entitlement), Part.chip(difference(one.kind), .grace), Format.time(one.detectedAt),
        theirs(one), ours(one, scope),
      ],
      values: [
        one.customerId, one.entitlement, String(one.kind.protoName.dropFirst("DISAGREEMENT_KIND_".count)),
        one.detectedAt.text, one.checkedAt.text, one.statedUntil.text, one.eventId, one.eventType,
        one.eventAt.text, one.reason, one.until.text, one.evidenceId.map { String($0) } ?? "",
      ])
  }

  private static func difference(_ kind: DisagreementKind) -> String {
    switch kind {
    case .theirsOnly: Text.theirsOnly
    case .oursOnly: Text.oursOnly
    case .otherEnd: Text.otherEnd
    case .unspecified, .unrecognized: Format.value(kind, "DISAGREEMENT_KIND_")
    }
  }

  /// RevenueCat's statement, and the webhook with it.
  private static func theirs(_ one: Disagreement) -> Markup {
    let end: Markup = one.statedUntil == nil ? "\(Text.noEnd)" : Format.time(one.statedUntil)
    return """
      <code>\(one.eventType)</code> \(Format.time(one.eventAt)) → \(end)
      <details><summary>\(Text.theirEvent)</summary>
      <p>\(Format.id(one.eventId))</p>
      \(event(one.eventJson))</details>
      """
  }

  /// The members of the event in the body of a webhook.
  private static func event(_ body: String) -> Markup {
    let event = JSONText.object(body)?.first { $0.0 == "event" }?.1
    guard let object = event?.objectValue else { return DocumentMarkup.payload(body) }
    return Table.properties(object.map { name, value in (name, JSONText.value(name, value)) })
  }

  /// The answer here, and the document that it rests on.
  private static func ours(_ one: Disagreement, _ scope: Scope) -> Markup {
    let end: Markup =
      one.until == nil
      ? (one.kind == .theirsOnly ? "" : "→ \(Text.noEnd)") : "→ \(Format.time(one.until))"
    let evidence: Markup =
      one.evidenceId.map { "<p>\(scope.evidenceLink($0))</p>" } ?? ""
    return "\(Format.words(one.reason)) \(end)\(evidence)"
  }
}
