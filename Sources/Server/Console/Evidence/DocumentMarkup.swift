internal import Markup
internal import Pages
internal import Wire

/// A document with the result of its verification.
enum DocumentMarkup {
  static func document(_ document: InspectResponse) -> Markup {
    let certificates = document.certificates.map { certificate in
      [
        Format.name(certificate.subject), Format.name(certificate.issuer),
        "\(Format.time(certificate.notBefore)) – \(Format.time(certificate.notAfter))",
        Format.id(certificate.sha256),
      ] as [Markup]
    }
    let inner = document.documents.map { inner in
      """
      <h3>\(Format.value(inner.kind, "DOCUMENT_KIND_")) \(checked(inner.verified, inner.reason))</h3>
      \(payload(inner.payloadJson))
      """ as Markup
    }
    return """
      <h2>\(Format.value(document.kind, "DOCUMENT_KIND_")) \(checked(document.verified, document.reason))</h2>
      <p>\(document.explanation)</p>
      \(payload(document.payloadJson))
      \(inner)
      \(certificates.isEmpty ? "" : "<h3>\(Text.certificates)</h3>\(Table.markup(Text.certificates, heads: [Text.subject, Text.issuer, Text.valid, Text.digest], rows: certificates))")
      """
  }

  private static func checked(_ verified: Bool, _ reason: String) -> Markup {
    verified ? Part.chip("✓ \(Text.verified)", .full) : Part.chip("✕ \(reason)", .none)
  }

  /// A payload as a table: Apple's names, and times in words.
  static func payload(_ json: String) -> Markup {
    guard let object = JSONText.object(json) else {
      return json.isEmpty ? "" : "<pre tabindex=\"0\">\(json)</pre>"
    }
    return Table.properties(object.map { name, value in (name, JSONText.value(name, value)) })
  }
}
