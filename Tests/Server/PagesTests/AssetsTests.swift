import HTTP
import Markup
import Pages
import Platform
import Testing

@Suite struct AssetsTests {
  private let assets = Assets()

  private func get(_ name: Assets.Name, _ fields: [(name: String, value: String)] = []) -> HTTPResponse {
    let path = assets.link(name).text
    return assets.respond(
      String(path.dropFirst("/assets/".count)),
      to: HTTPRequest(method: "GET", target: path, headers: HeaderFields(fields)))
  }

  @Test("A file is kept for a year under a name with its digest", arguments: Assets.Name.allCases)
  func caching(name: Assets.Name) throws {
    let response = get(name)
    #expect(response.status == 200 && !response.body.isEmpty)
    #expect(response.headers["cache-control"] == "public, max-age=31536000, immutable")
    let tag = try #require(response.headers["etag"])
    #expect(assets.link(name).text.contains(tag.dropFirst().dropLast()))
    #expect(get(name, [("if-none-match", tag)]).status == 304)
    #expect(get(name, [("if-none-match", "\"x\", W/\(tag)")]).status == 304)
  }

  @Test("A file is compressed for clients that accept it", arguments: Assets.Name.allCases)
  func compression(name: Assets.Name) throws {
    let compressed = get(name, [("accept-encoding", "br;q=1.0, gzip;q=0.8")])
    #expect(compressed.headers["content-encoding"] == "gzip")
    let bytes = try compressed.body.withUnsafeBytes { try gunzip($0, limit: 1 << 20) }
    #expect(bytes == get(name).body)
    #expect(get(name, [("accept-encoding", "gzip;q=0")]).headers["content-encoding"] == nil)
  }

  @Test("Styles and scripts together have less than 12 kB on the wire")
  func budget() {
    let sizes = [Assets.Name.style, .script].map { get($0, [("accept-encoding", "gzip")]).body.count }
    #expect(sizes.reduce(0, +) < 12_000)
  }

  @Test("Another name is not found")
  func unknown() {
    #expect(
      assets.respond("console.css", to: HTTPRequest(method: "GET", target: "/assets/console.css")).status
        == 404)
  }
}
