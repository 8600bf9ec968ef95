package import HTTP
package import Markup

/// A whole HTML document with the shared styles and scripts.
package struct Document: Sendable {
  /// The title in the browser's tab; not the heading of the page.
  package var title: String
  /// More of the `head`.
  package var head: Markup
  /// The content of `body`, which has an element with the id `main` for the link that skips the navigation.
  package var body: Markup
  /// Whether it is about a point in time before now.
  package var isAsOf: Bool

  package init(title: String, head: Markup = "", body: Markup, isAsOf: Bool = false) {
    self.title = title
    self.head = head
    self.body = body
    self.isAsOf = isAsOf
  }

  /// The document as a response. Browsers paint it when all of it has arrived: a table whose rows come in two parts
  /// would change the widths of its columns.
  package func response(_ status: Int, _ assets: Assets) -> HTTPResponse {
    let document: Markup = """
      <!doctype html>
      <html lang="en"\(isAsOf ? " class=\"as-of\"" : "")>
      <head><meta charset="utf-8"><title>\(title)</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      \(head)<link rel="expect" href="#end" blocking="render">
      <link rel="stylesheet" href="\(assets.link(.style))">
      <link rel="icon" href="\(assets.link(.icon))" type="image/svg+xml">
      <script type="module" src="\(assets.link(.script))"></script>
      </head>
      <body><a class="skip" href="#main">\(Text.skip)</a>
      \(body)
      <div id="end" hidden></div></body></html>

      """
    return HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "text/html; charset=utf-8")]),
      body: document.bytes)
  }
}
