package import Markup

/// Parts of pages that other pages use too.
package enum Part {
  /// Draws an empty state: its reason, and the action that would change it.
  package static func empty(_ text: String) -> Markup { "<p class=\"empty\">\(text)</p>" }

  /// A word on a coloured ground.
  package static func chip(_ text: String, _ tone: Tone) -> Markup {
    "<span class=\"chip \(tone.rawValue)\">\(text)</span>"
  }

  /// The link to the next page of a list; nothing after the last page, which has no token.
  package static func next(
    _ token: String, _ label: String = Text.nextPage, _ link: (String) -> Link
  ) -> Markup {
    token.isEmpty ? "" : "<p><a href=\"\(link(token))\">\(label)</a></p>"
  }
}

/// A table that scrolls by itself if it is wider than the page.
package enum Table {
  /// The table. Readers that do not see it get `label` as its name; each row has a cell for each of `heads`.
  package static func markup(_ label: String, heads: [String], rows: [[Markup]]) -> Markup {
    let head = heads.map { "<th scope=\"col\"\(style(of: $0))>\(self.head($0))</th>" as Markup }
    let body = rows.map { cells in
      let row = zip(heads, cells).map { head, cell in
        "<td data-head=\"\(head)\"\(style(of: head))>\(cell)</td>" as Markup
      }
      return "<tr>\(row)</tr>\n" as Markup
    }
    return """
      <div class="scroll" tabindex="0" role="region" aria-label="\(label)"><table>
      <thead><tr>\(head)</tr></thead>
      <tbody>
      \(body)</tbody></table></div>
      """
  }

  /// The class of a column of actions, which print leaves out.
  private static func style(of head: String) -> Markup { head == Text.actions ? " class=\"actions\"" : "" }

  /// The head of a column. The script puts the person's time zone into that of times.
  private static func head(_ text: String) -> Markup {
    guard text.hasSuffix(Text.inUTC) else { return "\(text)" }
    return "\(String(text.dropLast(Text.inUTC.count))) (<span data-zone>UTC</span>)"
  }

  /// Names and values in two columns; rows without a value are left out.
  package static func properties(_ rows: [(String, Markup?)]) -> Markup {
    let items = rows.compactMap { name, value in
      value.map { "<div><dt>\(name)</dt><dd>\($0)</dd></div>\n" as Markup }
    }
    return "<dl class=\"properties\">\n\(items)</dl>"
  }
}
