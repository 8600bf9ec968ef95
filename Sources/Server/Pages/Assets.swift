internal import Bytes
internal import CConsoleAssets
package import HTTP
package import Markup
internal import Platform
internal import SignedData

/// The files of the pages. Their names contain a digest of their content, so browsers keep them for a year.
package struct Assets: Sendable {
  /// The files; the raw values are their positions.
  package enum Name: Int, CaseIterable, Sendable {
    case style, script, icon
  }

  private struct Asset: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]
    let compressed: [UInt8]?
    let tag: String
  }

  private let assets: [Asset]

  /// Prepares the files: their digests, and their compressed forms, once for the process.
  package init() {
    assets = Name.allCases.map { name in
      let (text, file, suffix, type) = name.content
      let bytes = Array(String(cString: text).utf8)
      let digest = String(Hex.encode(SHA256.hash(bytes[...])).prefix(12))
      return Asset(
        path: "\(file).\(digest).\(suffix)", type: type, bytes: bytes, compressed: gzip(bytes),
        tag: "\"\(digest)\"")
    }
  }

  /// The address of a file, which changes with its content.
  package func link(_ name: Name) -> Link { Link(["assets", assets[name.rawValue].path]) }

  /// The response to a request for `path` after `/assets/`: the file, compressed if the client accepts gzip; 304 if the
  /// client has it; 404 for another path, such as that of an earlier version.
  package func respond(_ path: String, to request: HTTPRequest) -> HTTPResponse {
    guard let asset = assets.first(where: { $0.path == path }) else { return .text(404, "no such file\n") }
    var headers = HeaderFields([
      ("content-type", asset.type), ("cache-control", "public, max-age=31536000, immutable"),
      ("etag", asset.tag),
      ("vary", "accept-encoding"),
    ])
    if request.isCurrent(asset.tag) { return HTTPResponse(status: 304, headers: headers) }
    guard request.acceptsGzip, let compressed = asset.compressed else {
      return HTTPResponse(status: 200, headers: headers, body: asset.bytes)
    }
    headers.append(name: "content-encoding", value: "gzip")
    return HTTPResponse(status: 200, headers: headers, body: compressed)
  }
}

extension Assets.Name {
  fileprivate var content: (text: UnsafePointer<CChar>, file: String, suffix: String, type: String) {
    switch self {
    case .style: (entitled_console_css(), "console", "css", "text/css; charset=utf-8")
    case .script: (entitled_console_js(), "console", "js", "text/javascript; charset=utf-8")
    case .icon: (entitled_console_icon(), "icon", "svg", "image/svg+xml")
    }
  }
}

extension HTTPRequest {
  /// Whether the client accepts a compressed response.
  package var acceptsGzip: Bool {
    (header("accept-encoding") ?? "").split(separator: ",").contains { coding in
      let parts = coding.split(separator: ";").map { String($0).trimmed.lowercased() }
      return ["gzip", "*"].contains(parts.first ?? "")
        && !["q=0", "q=0.0"].contains(parts.dropFirst().first ?? "")
    }
  }
}
