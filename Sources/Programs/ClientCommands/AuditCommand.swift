internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled audit`.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "List the calls about customers, latest first.")

  @OptionGroup var client: ClientOptions

  @Option(help: "App id (default: all apps, if you may access all).") var app = ""
  @Option(help: "Customer id.") var customer = ""
  @Option(help: "Caller or actor.") var actor = ""
  @Option(help: "Method, for example GetCustomer.") var method = ""
  @Option(help: "Earliest call, RFC 3339 or a date (default: no limit).") var from: String?
  @Option(help: "End of the calls, RFC 3339, or their last day (default: no limit).") var to: String?
  @Option(help: "Maximum number of entries.") var limit = 100

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit takes a positive number") }
  }

  func run() async throws {
    var request = ListAuditEntriesRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.actor = actor
      $0.method = method
    }
    request.startTime = try TimeOption.parse(from, "--from")
    request.endTime = try TimeOption.parse(to, "--to", day: .end)
    let shown = try await client.withConnection { [request] connection in
      var (request, shown) = (request, 0)
      repeat {
        request.pageSize = Int32(clamping: min(1_000, limit - shown))
        let page = try await connection.listAuditEntries(request)
        if client.json || !page.entries.isEmpty { client.show(page, page.entries.map(\.row)) }
        shown += page.entries.count
        request.pageToken = page.nextPageToken
      } while !request.pageToken.isEmpty && shown < limit
      return shown
    }
    if shown == 0, !client.json { print("no audit entries") }
  }
}

extension AuditEntry {
  fileprivate var row: (String, String) {
    let name = method.split(separator: "/").last.map(String.init) ?? method
    let by = [caller, actor].filter { !$0.isEmpty }.joined(separator: "/")
    let about = customerIds.isEmpty ? subject : customerIds.joined(separator: ", ")
    let moments = [("as of", asOf), ("known at", knownAt)].filter { $0.1 != nil }.map { "\($0) \($1.text)" }
    return (
      time.text,
      ([by.isEmpty ? "-" : by, name, about] + moments + [outcome == "OK" ? "" : outcome, note])
        .filter { !$0.isEmpty }.joined(separator: "  ")
    )
  }
}
