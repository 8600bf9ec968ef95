internal import Bytes
internal import HTTP
internal import RPC

extension HTTPResponse {
  /// A response with comma-separated values (RFC 4180). A text that a spreadsheet would take for a formula begins with
  /// an apostrophe.
  static func csv(_ rows: [[String]]) -> HTTPResponse {
    let lines = rows.map { $0.map(CSVField.forSpreadsheet).joined(separator: ",") }
    return HTTPResponse(
      status: 200,
      headers: HeaderFields([
        ("content-type", "text/csv; charset=utf-8"), ("content-disposition", "attachment"),
      ]), body: Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
  }

  /// A list that the contract returns in pages, as CSV with at most 10,000 rows. `page` returns the rows of the page with
  /// a token, and the token of the next page, which is empty after the last one.
  static func csv(
    _ columns: [String], page: (String) async throws(Status) -> (rows: [[String]], next: String)
  ) async throws(Status) -> HTTPResponse {
    var rows: [[String]] = []
    var token = ""
    repeat {
      let found = try await page(token)
      rows += found.rows
      token = found.next
    } while !token.isEmpty && rows.count < maxRows
    return .csv([columns] + rows.prefix(maxRows))
  }

  private static let maxRows = 10_000
}
