import Markup
import Testing

@Suite struct MarkupTests {
  static let hostile = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "</title>",
    "&lt;b&gt;", "a\u{0}b\u{8}c", "\u{202E}evil", "𝒳\n\r\t", "`${x}`", "<!--", "]]>", "javascript:alert(1)",
  ]

  @Test("Interpolated text has no character that ends an element or a quoted attribute", arguments: hostile)
  func textIsEscaped(text: String) {
    let piece: Markup = "<p title=\"\(text)\" data-x='\(text)'>\(text)</p>"
    let open = "<p title=\"", between = "\" data-x='", content = "'>", close = "</p>"
    var rest = piece.description[...]
    for (start, end) in [(open, between), (between, content), (content, close)] {
      #expect(rest.hasPrefix(start))
      rest = rest.dropFirst(start.count)
      guard let range = rest.firstRange(of: end) else {
        Issue.record("the literal '\(end)' is missing")
        return
      }
      let value = rest[..<range.lowerBound]
      #expect(!value.contains { "<>\"'".contains($0) })
      #expect(
        !value.unicodeScalars.contains {
          $0.value < 0x20 && !"\t\n\r".unicodeScalars.contains($0) || $0.value == 0x7F
        })
      rest = rest[range.lowerBound...]
    }
  }

  @Test("Text is left out of URLs and of values without quotes", arguments: hostile)
  func unsafePlaces(text: String) {
    #expect(("<a href=\"\(text)\">" as Markup).description == "<a href=\"\">")
    #expect(("<form action='\(text)'>" as Markup).description == "<form action=''>")
    #expect(("<button formaction=\"\(text)\">" as Markup).description == "<button formaction=\"\">")
    #expect(("<p title=\(text)>" as Markup).description == "<p title=>")
    #expect(
      ("<a href=\"\(Link(["a&b"], query: [("q", "1"), ("r", "2")]))\">" as Markup).description
        == "<a href=\"/a%26b?q=1&amp;r=2\">")
  }

  @Test("Escaping loses no character but control characters")
  func escapingIsReversible() {
    let text = "a & b < c > d \" e ' f é 𝒳"
    let piece: Markup = "\(text)"
    let back = piece.description.replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    #expect(back == text)
  }

  @Test("A literal inside an interpolation is markup, and the text in it is escaped", arguments: hostile)
  func literalBranches(text: String) {
    let isBold = !text.isEmpty
    let expected: Markup = "<b>\(text)</b>"
    #expect(("\(isBold ? "<b>\(text)</b>" : "")" as Markup) == expected)
    #expect(("\(isBold ? text : "")" as Markup) == ("\(text)" as Markup))
  }

  @Test("Markup passes through, numbers have at most one decimal")
  func piecesAndNumbers() {
    let text = "<"
    let inner: Markup = "<b>\(text)</b>"
    #expect(("\(inner)\([inner, inner])" as Markup).description == String(repeating: "<b>&lt;</b>", count: 3))
    #expect(("\(12) \(12.0) \(12.34) \(-0.26)" as Markup).description == "12 12 12.3 -0.3")
    #expect([inner, inner].joined(separator: ", ").description == "<b>&lt;</b>, <b>&lt;</b>")
  }
}

@Suite struct LinkTests {
  @Test(
    "A path segment stays one segment",
    arguments: [
      "", "~", "~..", "+", "a/b", "..", ".", "?x=1", "#f", "a b", "%2F", "é", "\"'<>", "//evil.example",
      "a\\b", "\n",
    ])
  func segments(segment: String) {
    let link = Link(["app", segment], query: [("q", segment), ("none", nil)], fragment: "top")
    let path = link.text.prefix { $0 != "?" }
    #expect(path.split(separator: "/", omittingEmptySubsequences: false).count == 3)
    #expect(!path.hasSuffix("/..") && !path.hasSuffix("/."))
    #expect(Link.segments(ofPath: String(path)) == ["app", segment])
    #expect(link.text.hasSuffix("#top") && link.text.contains("?q=") && !link.text.contains("none"))
    #expect(link.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'<>\\".utf8.contains($0) })
  }

  @Test("The root has no segments")
  func root() { #expect(Link([]).text == "/") }

  @Test("Items are added to a path with or without a query")
  func adding() {
    #expect(Link(["a"]).adding(query: [("q", "&"), ("none", nil)]).text == "/a?q=%26")
    #expect(Link(["a"], query: [("p", "1")]).adding(query: [("q", "2")]).text == "/a?p=1&q=2")
  }

  @Test(
    "Only https pages of a listed host are links",
    arguments: [
      ("https://apps.apple.com/account/subscriptions", true), ("http://apps.apple.com/", false),
      ("https://apps.apple.com.evil.example/", false), ("https://apps.apple.com@evil.example/", false),
      ("https://apps.apple.com:8443/", false), ("javascript:alert(1)", false), ("https://", false),
      ("https://apps.apple.com\\@evil.example", false), ("https://apps.apple.com/ x", false),
      ("//apps.apple.com/", false),
    ])
  func external(url: String, isAllowed: Bool) {
    #expect((Link(external: url, hosts: ["apps.apple.com"]) != nil) == isAllowed)
  }
}
