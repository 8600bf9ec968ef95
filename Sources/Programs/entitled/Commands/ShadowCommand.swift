internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled shadow`: where versions 1 and 2 of Apple's notifications are not of one mind.
struct ShadowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shadow",
    abstract: "Tell where versions 1 and 2 of Apple's notifications differ, before relying on version 2.",
    discussion: "Exit status 0 if they told the same of every purchase, 3 if not.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Option(help: "Received from this time on, in RFC 3339.") var from: String?
  @Option(help: "Received before this time, in RFC 3339.") var to: String?

  func run() async throws {
    let environment = try EnvironmentName.parse(environment)
    let from = try TimeOption.parse(from, "--from")
    let to = try TimeOption.parse(to, "--to")
    let differs = try await client.withConnection { connection in
      var (token, differs) = ("", false)
      repeat {
        let request = CompareNotificationVersionsRequest.with {
          $0.app = app
          $0.environment = environment
          $0.from = from
          $0.to = to
          $0.pageToken = token
        }
        let page = try await connection.compareVersions(request)
        differs = differs || !page.comparisons.isEmpty
        if client.json || !page.comparisons.isEmpty { client.show(page, page.comparisons.flatMap(\.rows)) }
        token = page.nextPageToken
      } while !token.isEmpty
      return differs
    }
    if differs { throw ExitCode(3) }
  }
}

extension VersionComparison {
  /// The purchase in a line, and one more for each thing that differs.
  fileprivate var rows: [(String, String)] {
    let told = "told \(version1Notifications) times by version 1, \(version2Notifications) times by version 2"
    let alone = [
      ("  version 1 alone", onlyInVersion1.joined(separator: ", ")),
      ("  version 2 alone", onlyInVersion2.joined(separator: ", ")),
    ]
    let others = differences.map { difference in
      (
        "  \(difference.field)",
        "\(difference.version1.orNothing) by version 1, \(difference.version2.orNothing) by version 2"
      )
    }
    let owner = customerId.isEmpty ? "" : " of \(customerId)"
    return [("\(originalTransactionId)\(owner)", told)] + alone + others
  }
}

extension String {
  fileprivate var orNothing: String { isEmpty ? "nothing" : self }
}
