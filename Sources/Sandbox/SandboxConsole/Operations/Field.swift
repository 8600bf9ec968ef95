internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// A field of an operation's form.
struct Field: Hashable, Sendable {
  /// The input element of a field, and the hint about its form.
  enum Kind: Hashable, Sendable {
    case text, number, json
    /// `90s`, `5m`, `12h`, `35d` or `2w`.
    case duration
    case flag
    case choice([String])
    case product, account, transaction
    /// The app of the page, which the form does not show.
    case app
  }

  /// The member of the call.
  let name: String
  let kind: Kind
  /// Whether the call fails without it.
  let isRequired: Bool

  /// The fields of an operation.
  static func all(of operation: Operation) -> [Field] {
    operation.members.map { name in
      Field(
        name: name, kind: kind(of: name, in: operation), isRequired: !optional(in: operation).contains(name))
    }
  }

  /// The kind of a member, by its name; a text for others.
  private static func kind(of name: String, in operation: Operation) -> Kind {
    if let choices = choices(of: name, in: operation) { return .choice(choices) }
    switch (operation, name) {
    case (_, "app"): return .app
    case (_, "productId"): return .product
    case (_, "account"): return .account
    case (_, "transactionId"): return .transaction
    case (_, "quantity"), (_, "seats"), (_, "days"), (_, "price"), (_, "periods"), (_, "seed"),
      (_, "late"), (_, "lost"), (_, "staleFailures"), (_, "count"), (_, "every"), (_, "speed"),
      (_, "perSecond"), (_, "burst"), (_, "customers"), (_, "actionsPerDay"), (_, "timestamp"):
      return .number
    case (_, "by"), (_, "notice"), (_, "month"), (_, "chargeLead"), (_, "failureDelay"), (_, "expires"):
      return .duration
    case (_, "enabled"), (_, "fails"), (_, "agreed"), (_, "approved"), (_, "newDevice"), (_, "withdrawn"),
      (_, "delays"), (_, "upgradesByCancel"), (_, "testFlight"), (_, "needsConsent"), (_, "organization"),
      (_, "askToBuy"), (_, "purchaserNeedsSeat"), (_, "asDocumented"), (_, "deleted"),
      (_, "fields"), (_, "types"):
      return .flag
    case (.action(.deviceBits), "bit0"), (.action(.deviceBits), "bit1"): return .flag
    case (_, "information"), (_, "report"), (_, "content"):
      return .json
    default: return .text
    }
  }

  /// The values of a member that has only some.
  private static func choices(of name: String, in operation: Operation) -> [String]? {
    switch operation {
    case .action(let action): action.choices(of: name)
    case .call(.fault): name == "kind" ? Faults.Kind.allCases.map(\.rawValue) : nil
    case .call(.scenario): name == "name" ? Scenario.all.map(\.name) : nil
    case .call: nil
    }
  }

  /// The members that may be absent.
  private static func optional(in operation: Operation) -> Set<String> {
    switch operation {
    case .action(let action): action.optionalMembers
    case .call(.advance): ["by", "to"]
    case .call(.fault): ["count", "by", "every"]
    case .call(.callLimit): ["burst"]
    case .call(.live): ["seed", "actionsPerDay"]
    case .call(.realtimeMessage): ["locale"]
    case .call(.speed), .call(.clearFaults), .call(.scenario): []
    }
  }
}

extension Field {
  /// The field with its label. `suggestions` are the ids of the lists of accounts and transactions that the page has.
  func markup(_ value: String, _ products: [SandboxProduct]) -> Markup {
    let label: Markup =
      isRequired ? "\(Text.field(name))" : "\(Text.field(name)) <span class=\"quiet\">\(Text.optional)</span>"
    let hint = Text.hint(name, kind)
    let description: Markup = hint == nil ? "" : " aria-describedby=\"\(name)-hint\""
    let required: Markup = isRequired ? " required" : ""
    return """
      <label for="\(name)">\(label)</label>
      \(hint.map { "<p class=\"hint\" id=\"\(name)-hint\">\($0)</p>" as Markup } ?? "")
      \(control(value, products, "id=\"\(name)\" name=\"\(name)\"\(description)\(required)"))

      """
  }

  /// The input element, with the value that it has.
  private func control(_ value: String, _ products: [SandboxProduct], _ attributes: Markup) -> Markup {
    switch kind {
    case .app: return ""
    case .flag:
      return Self.select(["true", "false"], value, isRequired: isRequired, attributes) {
        $0 == "true" ? Text.yes : Text.no
      }
    case .choice(let choices): return Self.select(choices, value, isRequired: isRequired, attributes) { $0 }
    case .product:
      return Self.select(products.map(\.productId), value, isRequired: isRequired, attributes) { $0 }
    case .json: return "<textarea \(attributes) spellcheck=\"false\">\(value)</textarea>"
    case .number: return Self.input(value, attributes, " inputmode=\"numeric\"")
    case .account: return Self.input(value, attributes, " list=\"accounts\"")
    case .transaction: return Self.input(value, attributes, " list=\"transactions\" inputmode=\"numeric\"")
    case .text, .duration: return Self.input(value, attributes, "")
    }
  }

  private static func input(_ value: String, _ attributes: Markup, _ more: Markup) -> Markup {
    "<input type=\"text\" \(attributes)\(more) value=\"\(value)\" autocomplete=\"off\" spellcheck=\"false\">"
  }

  private static func select(
    _ values: [String], _ selected: String, isRequired: Bool, _ attributes: Markup, text: (String) -> String
  ) -> Markup {
    let empty: Markup = isRequired ? "" : "<option value=\"\">\(Text.none)</option>"
    let options = values.map { value in
      "<option value=\"\(value)\"\(value == selected ? " selected" : "")>\(text(value))</option>\n" as Markup
    }
    return "<select \(attributes)>\n\(empty)\(options)</select>"
  }
}
