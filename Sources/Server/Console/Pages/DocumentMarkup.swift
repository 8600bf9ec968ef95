internal import AppStore
internal import JSON
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

/// JSON of documents as texts for people.
enum JSONText {
  static func object(_ text: String) -> [(String, JSONValue)]? {
    guard let value = try? JSONValue(parsing: Array(text.utf8)), let object = value.objectValue else {
      return nil
    }
    return object.map { ($0.0, $0.1) }
  }

  /// A member: a time if it is one of Apple's milliseconds, otherwise its JSON.
  static func value(_ name: String, _ value: JSONValue) -> Markup {
    switch value {
    case .string(let text): return Format.name(text.shortened(to: 2_000))
    case .number(let number)
    where (name.hasSuffix("Date") || name.hasSuffix("date")) && (1e11..<1e13).contains(number.double):
      return Format.time(Instant(millisecondsSince1970: Int64(number.double)))
    case .object, .array:
      return
        "<pre tabindex=\"0\">\(String(decoding: value.serialized(), as: UTF8.self).shortened(to: 20_000))</pre>"
    default: return "\(String(decoding: value.serialized(), as: UTF8.self))"
    }
  }
}
