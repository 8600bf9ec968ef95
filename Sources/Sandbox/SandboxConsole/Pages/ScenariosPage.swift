internal import Markup
internal import Pages
internal import Sandbox

/// Stories that run with one click.
enum ScenariosPage {
  /// `GET …/scenarios`, with the steps of each.
  static func page(_ visit: Visit) -> Page {
    let cards = Scenario.all.map { scenario in
      """
      <section class="card"><h2>\(scenario.title)</h2>
      <p>\(scenario.summary)</p>
      <details><summary>\(Text.steps(scenario.steps.count))</summary>
      <ol>\(scenario.steps.map { "<li>\($0.meaning)</li>\n" as Markup })</ol></details>
      <div class="row">\(button(scenario, visit))</div>
      <pre tabindex="0">\(Part.command(.call(.scenario), [("name", scenario.name)], visit).preferred)</pre>
      </section>

      """ as Markup
    }
    let body: Markup = """
      <h1>\(Text.scenarios)</h1>
      <p>\(Text.scenariosHint)</p>
      <div class="cards">
      \(cards)</div>
      """
    return Page(title: Text.scenarios, section: .scenarios, body: body)
  }

  /// The buttons of all scenarios.
  static func buttons(_ visit: Visit) -> Markup {
    let buttons = Scenario.all.map { button($0, visit) }
    let commands = Scenario.all.map { Part.command(.call(.scenario), [("name", $0.name)], visit) }
    return
      "<div class=\"row\">\(buttons)<a href=\"\(visit.link(["scenarios"]))\">\(Text.theirSteps)</a></div>\(Part.commands(commands))"
  }

  private static func button(_ scenario: Scenario, _ visit: Visit) -> Markup {
    Part.button(
      Text.run(scenario.title), .call(.scenario), [("name", scenario.name)], visit, back: ["journal"])
  }
}
