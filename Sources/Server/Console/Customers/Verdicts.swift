internal import AppStore
internal import Entitlements
internal import Markup
internal import Pages
internal import Wire

/// A customer's answer about one entitlement, with what to say and to do.
struct Verdict: Sendable {
  let entitlement: Entitlement
  /// The answer, for the operator's staff.
  let sentence: String
  /// The sentence for the customer; empty for a past point in time.
  let customerSentence: String
  let actions: [String]
  let url: String
  let deadline: Instant?

  var tone: Tone { Tone(reason: entitlement.reason, entitled: entitlement.entitled) }

  /// The verdicts of a page: those with something to do first.
  static func all(_ data: CustomerData) -> [Verdict] {
    if let instant = data.pointInTime.asOf {
      let lanes = (try? data.history.get())?.lanes.filter { $0.kind == .access } ?? []
      return lanes.compactMap { Verdict($0, at: instant) }.sorted {
        $0.entitlement.entitled && !$1.entitlement.entitled
      }
    }
    return data.description.entitlements.map { Verdict($0, data.customer) }
  }

  private init(_ description: EntitlementDescription, _ customer: GetCustomerResponse) {
    entitlement =
      customer.entitlements.first { $0.name == description.entitlement }
      ?? .with {
        $0.name = description.entitlement
        $0.entitled = description.entitled
        $0.reason = description.reason
      }
    // The heading of the card says the same.
    let prefix = Text.verdictPrefix(description.entitlement, description.entitled)
    let support = description.supportSentence
    sentence = support.hasPrefix(prefix) ? String(support.dropFirst(prefix.count)) : support
    customerSentence = description.customerSentence
    actions = description.actions
    url = description.url
    deadline = description.deadline?.instant
  }

  /// The verdict of a past point in time, from the access lane of the entitlement.
  private init?(_ lane: HistoryLane, at instant: Instant) {
    guard let segment = lane.segments.last(where: { $0.contains(instant) }) ?? lane.segments.last else {
      return nil
    }
    let hasAccess = segment.accessLevel == .full || segment.accessLevel == .limited
    entitlement = .with {
      $0.name = lane.name
      $0.entitled = hasAccess
      $0.accessLevel = segment.accessLevel
      $0.reason = segment.reason
      $0.productId = segment.productId
      $0.evidenceId = segment.evidenceId
    }
    let end = segment.until?.instant.map { hasAccess ? Text.until($0) : "" } ?? ""
    sentence = (EntitlementReason(rawValue: segment.reason)?.sentence ?? "") + end
    customerSentence = ""
    actions = []
    url = ""
    deadline = nil
  }
}

extension Verdict {
  /// The card of the verdict. `explain` leads to the steps that led to it.
  func card(in scope: Scope, at now: Instant, explain: Link) -> Markup {
    """
    <article class="card \(tone.rawValue)">
    <h2>\(Format.name(entitlement.name)): <span>\(tone.sign) \(answer)</span></h2>
    <p>\(Format.sentence(sentence))</p>
    \(toDo(now))\
    \(toTell)\
    <p class="meta">\(meta(in: scope)) · <a href="\(explain)">\(Text.why(entitlement.name))</a></p>
    </article>

    """
  }

  /// The text for the customer, with a button that copies it.
  private var toTell: Markup {
    guard !customerSentence.isEmpty else { return "" }
    return """
      <p class="tell"><strong>\(Text.tell)</strong> “\(customerSentence)” <button type="button" data-action="copy" \
      data-copy="\(customerSentence)" aria-label="\(Text.copySentence(entitlement.name))">\(Text.copy)</button></p>

      """
  }

  private var answer: String {
    let yes = entitlement.entitled ? Text.yes : Text.no
    switch tone {
    case .grace, .trial, .grant, .retry: return "\(yes), \(Text.name(of: tone))"
    default: return entitlement.accessLevel == .limited ? "\(yes), \(Text.limited)" : yes
    }
  }

  private func toDo(_ now: Instant) -> Markup {
    guard !actions.isEmpty else { return "" }
    let left: Markup =
      actions.contains(where: Text.saysTimeLeft)
      ? ""
      : deadline.map { "<strong>\(Text.left(Format.span(max(0, $0.milliseconds(since: now)))))</strong> " }
        ?? ""
    let link: Markup =
      AppleLink.link(url).map { "<a href=\"\($0)\" rel=\"noreferrer\">\(Text.applesPage)</a>" } ?? ""
    return
      "<p class=\"do\"><strong>\(Text.toDo)</strong> \(actions.map(Self.linked).joined(separator: " ")) \(left)\(link)</p>\n"
  }

  /// A sentence in which the addresses of Apple's pages are links.
  private static func linked(_ sentence: String) -> Markup {
    sentence.split(separator: " ", omittingEmptySubsequences: false).map { word -> Markup in
      let address = word.hasSuffix(".") ? word.dropLast() : word
      guard address.hasPrefix("https://"), let link = AppleLink.link(String(address)) else {
        return "\(String(word))"
      }
      return
        "<a class=\"address\" href=\"\(link)\" rel=\"noreferrer\">\(String(address))</a>\(String(word.dropFirst(address.count)))"
    }.joined(separator: " ")
  }

  private func meta(in scope: Scope) -> Markup {
    var parts: [Markup] = []
    let code = entitlement.appStoreCodes?.stateCode.given.map { "<code>\($0)</code> " as Markup }
    parts.append("\(code ?? "")\(entitlement.reason)")
    if !entitlement.productId.isEmpty { parts.append(Format.name(entitlement.productId)) }
    if let evidence = entitlement.evidenceId { parts.append(scope.evidenceLink(evidence)) }
    return parts.joined(separator: " · ")
  }
}

/// The facts and rules that led to an answer.
enum Steps {
  /// The decisive steps first.
  static func list(_ steps: [ExplanationStep], in scope: Scope) -> Markup {
    let sorted = steps.filter(\.decisive) + steps.filter { !$0.decisive }
    let items = sorted.map { step in
      let evidence: Markup = step.evidenceId.map { " \(scope.evidenceLink($0))" } ?? ""
      let text: Markup = step.decisive ? "<strong>\(step.explanation)</strong>" : "\(step.explanation)"
      return "<li>\(text) <code>\(step.rule)</code>\(evidence)</li>\n" as Markup
    }
    return "<ol>\(items)</ol>"
  }
}

/// Pages of Apple's that the console links to.
enum AppleLink {
  private static let hosts: Set<String> = [
    "apps.apple.com", "reportaproblem.apple.com", "account.apple.com", "support.apple.com",
  ]

  static func link(_ url: String) -> Link? { Link(external: url, hosts: hosts) }

  /// Apple's page on which a customer requests a refund.
  static let reportAProblem = link("https://reportaproblem.apple.com/")
}
