internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// Faults on demand, and the calls that Apple's interfaces received.
enum FaultsPage {
  /// `GET …/faults`. Faults and the counts of calls are of the process, and not in the journal.
  static func page(_ visit: Visit) async -> Page {
    let faults = await visit.simulator.faultViews()
    let calls = await visit.simulator.callCounts()
    let rows = faults.map { fault in
      [
        "<code>\(fault.kind.rawValue)</code>", "\(Text.meaning(of: fault.kind))", "\(fault.left)",
        "\(Text.every(fault.every))", "\(Format.length(fault.milliseconds))",
        Part.button(
          Text.clear, .call(.fault), [("kind", fault.kind.rawValue), ("count", "0")], visit, back: ["faults"]),
      ] as [Markup]
    }
    let kinds = Faults.Kind.allCases.map { kind in
      [
        "<code>\(kind.rawValue)</code>", "\(Text.meaning(of: kind))",
        Part.button(
          Text.setFault(kind.rawValue), .call(.fault), [("kind", kind.rawValue)], visit, back: ["faults"]),
      ] as [Markup]
    }
    let counts = calls.map { call in
      ["<code>\(call.kind)</code>", "\(call.calls)", "\(call.limited)"] as [Markup]
    }
    let body: Markup = """
      <h1>\(Text.faults)</h1>
      <p>\(Text.faultsHint)</p>
      \(rows.isEmpty ? Part.empty(Text.noFaults) : Table.markup(Text.activeFaults, heads: [Text.kind, Text.effect, Text.left, Text.everyHead, Text.duration, Text.actions], rows: rows))
      <div class="row">\(Part.link(.call(.fault), [], visit, back: ["faults"], label: Text.addFault))\
      \(faults.isEmpty ? "" : Part.button(Text.clearFaults, .call(.clearFaults), [], visit, back: ["faults"]))</div>
      <h2>\(Text.allFaults)</h2>
      \(Table.markup(Text.allFaults, heads: [Text.kind, Text.effect, Text.actions], rows: kinds))
      \(Part.commands(Faults.Kind.allCases.map { Part.command(.call(.fault), [("kind", $0.rawValue)], visit) }))
      <h2>\(Text.calls)</h2>
      <p>\(Text.callsHint)</p>
      \(counts.isEmpty ? Part.empty(Text.noCalls) : Table.markup(Text.calls, heads: [Text.kind, Text.callsHead, Text.limited], rows: counts))
      <div class="row">\(Part.link(.call(.callLimit), [], visit, back: ["faults"]))</div>
      """
    return Page(title: Text.faults, section: .faults, body: body)
  }
}
