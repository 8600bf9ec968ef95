package import Markup

/// A person's choices about all pages: times, colours, rows and keys. The script does it.
package enum ViewMenu {
  /// The buttons of the menu, which have no effect without the script.
  package static let buttons: Markup = """
    <p><button type="button" data-action="zone">\(Text.zoneButton)</button></p>
    <p><button type="button" data-action="theme">\(Text.themeButton)</button></p>
    <p><button type="button" data-action="density">\(Text.densityButton)</button></p>
    <p><button type="button" data-action="keys" aria-pressed="true">\(Text.keysButton)</button></p>
    """

  /// The list of keys, which a key shows.
  package static func keys(_ keys: [(key: String, meaning: String)]) -> Markup {
    let rows = keys.map { key, meaning in
      "<div><dt><kbd>\(key)</kbd></dt><dd>\(meaning)</dd></div>" as Markup
    }
    return "<dl class=\"keys\" hidden>\(rows)</dl>"
  }

  /// The element in which the script announces what it did, with the texts for it. `more` are attributes with the texts of
  /// some pages only.
  package static func announcement(_ more: Markup = "") -> Markup {
    """
    <span role="status" id="announcement" data-local="\(Text.localTimes)" data-utc="\(Text.utcTimes)" \
    data-here="\(Text.here)" data-address="\(Text.addressCopied)" data-id="\(Text.idCopied)" \
    data-refused="\(Text.copyRefused)" data-keys-on="\(Text.keysOn)" data-keys-off="\(Text.keysOff)"\(more)></span>
    """
  }
}
