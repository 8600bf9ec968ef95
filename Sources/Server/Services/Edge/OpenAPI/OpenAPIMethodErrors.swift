internal import JSON
internal import RPC
internal import Wire

/// The error responses of the methods, with the reasons that the contract lists.
struct OpenAPIMethodErrors {
  /// The components, by name.
  private(set) var responses = JSONObject()
  /// By path; `*` is every method.
  private let reasons: [String: [StatusCode: [String]]]

  init() {
    var reasons: [String: [StatusCode: [String]]] = [:]
    for line in MethodErrorTable.text.split(separator: "\n") {
      let parts = line.split(separator: " ").map(String.init)
      guard parts.count > 2, let code = StatusCode.allCases.first(where: { $0.name == parts[1] }) else {
        continue
      }
      reasons[parts[0], default: [:]][code] = Array(parts[2...])
    }
    self.reasons = reasons
    for (status, codes) in OpenAPIErrors.codes {
      let shared = Self.listed(of: codes, in: [reasons["*"] ?? [:]])
      if !shared.isEmpty { responses["Method\(status)"] = Self.response(shared, status) }
    }
  }

  /// The references from a method, by HTTP status. A method that declares reasons has separate components.
  mutating func references(of method: MethodDescription) -> [(status: String, reference: JSONValue)] {
    let own = reasons[method.fullName] ?? [:]
    let name = "\(method.service.split(separator: ".").last ?? "")_\(method.name)"
    var references = OpenAPIErrors.references
    for index in references.indices {
      let status = references[index].status
      guard let codes = OpenAPIErrors.codes.first(where: { String($0.httpStatus) == status })?.codes else {
        continue
      }
      let component: String
      if Self.listed(of: codes, in: [own]).isEmpty {
        component = "Method\(status)"
      } else {
        component = "\(name)_\(status)"
        responses[component] = Self.response(
          Self.listed(of: codes, in: [own, reasons["*"] ?? [:]]), Int(status) ?? 0)
      }
      if responses[component] != nil {
        references[index].reference = ["$ref": .string("#/components/responses/\(component)")]
      }
    }
    return references
  }

  /// The reasons of these codes, each once, in the order of the lists.
  private static func listed(
    of codes: [StatusCode], in lists: [[StatusCode: [String]]]
  ) -> [(code: StatusCode, reasons: [String])] {
    codes.compactMap { code in
      var reasons: [String] = []
      for list in lists {
        for reason in list[code] ?? [] where !reasons.contains(reason) { reasons.append(reason) }
      }
      return reasons.isEmpty ? nil : (code, reasons)
    }
  }

  private static func response(
    _ listed: [(code: StatusCode, reasons: [String])], _ httpStatus: Int
  ) -> JSONValue {
    let descriptions = listed.map { code, reasons in
      "`\(code.connectName)`: " + reasons.map { "`\($0)`" }.joined(separator: ", ")
    }
    let reasons = listed.flatMap(\.reasons)
    var forms: [JSONValue] = [["enum": .array(reasons.filter { !$0.hasSuffix("*") }.map { .string($0) })]]
    for reason in reasons where reason.hasSuffix("*") {
      forms.append(["pattern": .string("^\(reason.dropLast())")])
    }
    let detail: JSONValue = [
      "properties": [
        "type": ["const": "google.rpc.ErrorInfo"],
        "debug": ["properties": ["reason": ["anyOf": .array(forms)]]],
      ]
    ]
    return OpenAPIErrors.response(
      "An error with one of these reasons. " + descriptions.joined(separator: "; ") + ".",
      [
        "allOf": [
          ["$ref": "#/components/schemas/connect.Error"],
          ["properties": ["details": ["contains": detail]]],
        ]
      ], orText: OpenAPIErrors.refusalsOfPages.contains(httpStatus))
  }
}
