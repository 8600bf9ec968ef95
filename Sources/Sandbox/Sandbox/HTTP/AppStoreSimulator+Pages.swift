internal import HTTP
internal import JSON

// All accounts in pages, because there may be 100,000.
extension AppStoreSimulator {
  /// One page of accounts.
  private struct Page {
    let app: SandboxApp
    let accounts: [String]
  }

  /// The number of accounts of a page, by default and at most.
  private static let maxPageSize = 5_000

  /// Responds with the page that the query names.
  func page(_ query: String, _ respond: (_ accounts: [String], _ app: SandboxApp) throws -> HTTPResponse)
    async
    -> HTTPResponse
  {
    await mapErrors {
      let page = try page(Query(query))
      return try respond(page.accounts, page.app)
    }
  }

  /// The page that the query names.
  ///
  /// - Throws: ``ActionError`` for an unknown app and for another limit.
  private func page(_ query: Query) throws(ActionError) -> Page {
    catchUp()
    guard let app = query["app"].flatMap({ world.app($0) }) else {
      throw .unknownApp(query["app"] ?? "", known: apps.map(\.id))
    }
    let limit = query["limit"].map { Int($0) ?? 0 } ?? Self.maxPageSize
    guard (1...Self.maxPageSize).contains(limit) else {
      throw .wrongType(member: "limit", expected: "between 1 and \(Self.maxPageSize)")
    }
    let after = query["after"] ?? ""
    let following = world.accounts.keys.filter {
      $0 > after && world.accounts[$0]?.appInstalls[app.id] != nil
    }
    return Page(app: app, accounts: Array(following.sorted().prefix(limit)))
  }

  /// Returns the purchases of the accounts.
  func accounts(_ names: [String], in app: SandboxApp) throws -> HTTPResponse {
    .json(["accounts": .array(names.map { .object(account($0, in: [app])) })])
  }

  /// Returns the app receipts of the accounts as NDJSON, the input format of `entitled migrate`.
  func receipts(_ names: [String], in app: SandboxApp) throws -> HTTPResponse {
    let document = receiptDocument
    var lines: [UInt8] = []
    for name in names {
      let line: JSONObject = [
        "customer_id": .string(name), "receipt": .string(try document.appReceipt(of: name, in: app)),
      ]
      lines += line.serialized() + [UInt8(ascii: "\n")]
    }
    return HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", "application/x-ndjson")]), body: lines)
  }
}
