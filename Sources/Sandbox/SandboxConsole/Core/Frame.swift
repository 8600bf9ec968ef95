internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import Sandbox
internal import SandboxPaths

/// The part of a page that all pages share: navigation, the name of the world, the simulated time, and the mark that
/// nothing here is real.
enum Frame {
  /// Draws a page of an app.
  static func document(_ page: Page, _ visit: Visit, _ assets: Assets) -> HTTPResponse {
    let sections = Page.Section.allCases.map { section in
      let link = visit.link(section == .overview ? [] : [section.rawValue])
      let current: Markup = section == page.section ? " aria-current=\"page\"" : ""
      return
        "<a href=\"\(link)\"\(current) data-key=\"\(section.key)\">\(section == .overview ? visit.app.id : section.title)</a> "
        as Markup
    }
    let body: Markup = """
      \(header("<nav aria-label=\"\(Text.navigation)\">\(sections)</nav>", visit.world))
      <main id="main" tabindex="-1">
      \(page.notice)
      \(page.body)
      </main>
      \(footer(visit.clock))
      """
    return Document(title: "\(page.title) · \(visit.app.id) · \(Text.product)", body: body)
      .response(page.status, assets)
  }

  /// A document without an app.
  static func plain(
    _ status: Int, _ title: String, _ body: Markup, _ clock: ClockView, _ world: WorldName?, _ assets: Assets
  ) -> HTTPResponse {
    let content: Markup = """
      \(header("", world))
      <main id="main" class="plain" tabindex="-1"><h1>\(title)</h1>
      \(body)</main>
      \(footer(clock))
      """
    return Document(title: "\(title) · \(Text.product)", body: content).response(status, assets)
  }

  /// The top of a page. It names the world, so that a tester with several tabs sees which one it is.
  private static func header(_ navigation: Markup, _ world: WorldName?) -> Markup {
    let name: Markup = world.map { "<span class=\"badge\">\(Text.world($0.text))</span>" } ?? ""
    return """
      <header class="frame">
      <a class="brand" href="\(Link.inWorld(world, []))">\(Text.product)</a>
      \(navigation)
      \(name)<span class="badge test">\(Text.notReal)</span>
      <details class="person"><summary>\(Text.view)</summary>
      <div class="menu">
      \(ViewMenu.buttons)
      <p>\(Text.interfaceHint)</p>
      \(ViewMenu.keys(Text.keys))
      </div></details>
      </header>
      """
  }

  /// The bottom of a page, with the simulated time of the request.
  private static func footer(_ clock: ClockView) -> Markup {
    """
    <footer><span data-now="\(clock.now.description)">\(Text.simulatedTime) \(Format.time(clock.now)) <span data-zone>UTC</span></span> \
    \(ViewMenu.announcement())</footer>
    """
  }
}

extension Page.Section {
  /// The key after `g` that opens it.
  var key: String { self == .overview ? "o" : self == .everything ? "e" : self == .settings ? "t" : letter }

  /// The key of a section whose first letter another section has, or that first letter.
  private var letter: String {
    switch self {
    case .scenarios: "y"
    case .shop: "s"
    default: String(rawValue.prefix(1))
    }
  }
}
