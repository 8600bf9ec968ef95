internal import AppStore
internal import Callers
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The part of a page that all pages share: navigation, search box, environment and person.
enum Frame {
  /// The whole document of a page.
  static func document(_ page: Page, _ visit: Visit, assets: Assets) -> HTTPResponse {
    let body: Markup = """
      <header class="frame">
      <a class="brand" href="\(Link([]))">\(Text.product)</a>
      <nav aria-label="\(Text.navigation)">\(navigation(page, visit))</nav>
      \(visit.mayCall(Calls.findCustomers) ? find(page.scope, visit) : "")
      \(badge(page.scope))
      <details class="person"><summary>\(Format.name(visit.person.name)) · \(visit.roleName)</summary>
      <div class="menu">
      \(ActionName.allCases.contains(where: { $0.isOpen(to: visit) }) ? "" : "<p>\(Text.readOnly)</p>")
      \(ViewMenu.buttons)
      \(ViewMenu.keys(Text.keys))
      <form method="post" action="\(Link(["session", "end"]))">
      <button>\(Text.signOut)</button></form>
      </div></details>
      </header>
      \(pointInTimeBar(page))
      <main id="main" tabindex="-1">
      \(page.scope.flatMap { scope in ActionReceipt(visit)?.notice(in: scope, visit) } ?? "")
      \(page.body)
      </main>
      <footer>\(shownAt(page, visit)) \
      \(ViewMenu.announcement(announcements))</footer>
      """
    return Document(
      title: "\(page.title) · \(Text.product)", body: body, isAsOf: page.pointInTime?.asOf != nil
    ).response(page.status, assets)
  }

  /// A document without navigation, shown without a valid sign-in.
  static func plain(_ status: Int, title: String, body: Markup, assets: Assets, head: Markup = "")
    -> HTTPResponse
  {
    Document(
      title: "\(title) · \(Text.product)", head: head,
      body: "<main id=\"main\" class=\"plain\" tabindex=\"-1\"><h1>\(title)</h1>\n\(body)</main>"
    ).response(status, assets)
  }

  private static func navigation(_ page: Page, _ visit: Visit) -> [Markup] {
    Page.Section.allCases.compactMap { section in
      guard let link = link(to: section, page, visit) else { return nil }
      let current: Markup = section == page.section ? " aria-current=\"page\"" : ""
      let count: Markup =
        section == .work && (page.openWork ?? 0) > 0
        ? " <span class=\"chip grace\" title=\"\(Text.openWork)\">\(page.openWork ?? 0)</span>" : ""
      return "<a href=\"\(link)\"\(current) data-key=\"\(section.key)\">\(section.title)\(count)</a> "
    }
  }

  private static func link(to section: Page.Section, _ page: Page, _ visit: Visit) -> Link? {
    switch section {
    case .customers: visit.mayCall(Calls.findCustomers) ? HomePage.link : nil
    case .work: WorkQueue.isAnyOpen(to: visit) ? page.scope?.work() : nil
    case .segments: visit.mayCall(Calls.listSegments) ? page.scope?.segments() : nil
    case .reports: visit.mayCall(Calls.queryReport) ? page.scope?.reports() ?? Link(["reports"]) : nil
    case .status: visit.mayCall(Calls.getStatus) ? Link(["status"]) : nil
    case .audit: visit.mayCall(Calls.listAuditEntries) ? Link(["audit"]) : nil
    }
  }

  private static func find(_ scope: Scope?, _ visit: Visit) -> Markup {
    let origin: Markup =
      scope.map {
        """
        <input type="hidden" name="app" value="\($0.app)">\
        <input type="hidden" name="environment" value="\($0.environment.slug)">

        """
      } ?? ""
    return """
      <form class="find" role="search" action="\(Link(["find"]))" method="post">
      <input type="search" name="q" value="\(visit.query["q"] ?? "")" aria-label="\(Text.findLabel)" \
      placeholder="\(Text.findHint)" autocomplete="off" spellcheck="false">
      \(origin)</form>
      """
  }

  /// The time of the page. Scripts compare the others with it, if they have the same clock: a sandbox has its own.
  private static func shownAt(_ page: Page, _ visit: Visit) -> Markup {
    let clock = page.now ?? (page.scope?.environment == .production ? visit.now : nil)
    return """
      <span id="shown" data-now="\(clock?.description ?? "")">\(Text.shownAt) \(Format.time(page.now ?? visit.now)) \
      <span data-zone>UTC</span></span>
      """
  }

  private static func badge(_ scope: Scope?) -> Markup {
    guard let scope else { return "" }
    return """
      <span class="badge \(scope.environment == .production ? "production" : "test")">\
      \(Format.name(scope.app)) · \(scope.environment.slug.uppercased())</span>
      """
  }

  /// The bar of a page about a point in time before now.
  private static func pointInTimeBar(_ page: Page) -> Markup {
    guard let pointInTime = page.pointInTime, let asOf = pointInTime.asOf else { return "" }
    let back: Markup = page.present.map { "<a href=\"\($0)\">\(Text.backToNow)</a>" } ?? ""
    return
      """
      <p class="moment" role="status">\(Text.asOf) \(Format.time(asOf)) <span data-zone>UTC</span>, \
      \(pointInTime.isKnownThen ? Text.knownThen : Text.knownNow). \(back)</p>
      """
  }

  private static let announcements: Markup = """
     data-ticket="\(Text.ticketCopied)" data-text="\(Text.textCopied)" data-live-on="\(Text.liveOn)" \
    data-live-off="\(Text.liveOff)" data-live-refused="\(Text.liveRefused)" data-live-changed="\(Text.liveChanged)"
    """
}

extension Page.Section {
  var title: String {
    switch self {
    case .customers: Text.customers
    case .work: Text.work
    case .segments: Text.segments
    case .reports: Text.reports
    case .status: Text.status
    case .audit: Text.audit
    }
  }

  /// The key after `g` that opens it.
  var key: String { self == .segments ? "l" : String(rawValue.prefix(1)) }
}

extension Page {
  /// A method's error: its message, its stable reason, and the id under which the logs have the call.
  static func error(_ status: Status, in scope: Scope? = nil) -> Page {
    var page = Page(
      Text.errorTitle, in: scope,
      body:
        "<h1>\(Text.errorTitle)</h1>\n\(Part.failure(status))\n<p><a href=\"\(Link([]))\">\(Text.toStart)</a></p>"
    )
    page.status = status.code.httpStatus
    return page
  }
}

extension Part {
  /// The form that downloads a file of customers, with the reason.
  static func file(_ label: String, _ link: Link) -> Markup {
    """
    <details class="actions"><summary>\(label)</summary>
    <form class="row" method="post" action="\(link)">
    <label>\(Text.reasonLabel) <input type="text" name="note" maxlength="256" required></label>
    <button>\(Text.download)</button> <span class="quiet">\(Text.downloadHint)</span></form></details>
    """
  }

  /// An error in place of a part of a page; `part` names one without a heading.
  static func failure(_ status: Status, of part: String = "", hasAdvice: Bool = true) -> Markup {
    let subject = part.isEmpty ? "" : Text.cannotShow(part) + " "
    var line: Markup =
      "<p class=\"problem\" role=\"alert\"><strong>\(subject)\(status.message)</strong> <code>\(status.reason ?? status.code.name)</code>"
    if !status.requestID.isEmpty {
      line += " <span class=\"quiet\">\(Text.requestID) \(Format.id(status.requestID))</span>"
    }
    if hasAdvice, let advice = Text.advice(status.code) { line += "<br>\(advice)" }
    return line + "</p>"
  }
}
