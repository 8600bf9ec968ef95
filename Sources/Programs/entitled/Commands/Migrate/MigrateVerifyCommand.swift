internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled migrate verify`: is what we know what Apple says?
struct MigrateVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare customers with what Apple says of them now. Changes nothing.",
    discussion: "Exit status 0 if nothing differs and all could be compared, 3 if not.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Option(help: "Compare one of so many customers (default: all).") var sampleEvery: Int32 = 1

  func run() async throws {
    let environment = try EnvironmentName.parse(environment)
    let server = MigrationClient(client: client)
    var (compared, notCompared, drifted) = (0, 0, Set<String>())
    var token = ""
    repeat {
      let page = try await server.call { [token] connection async throws(ClientError) in
        try await connection.compareWithApple(
          .with {
            $0.app = app
            $0.environment = environment
            $0.sampleEvery = sampleEvery
            $0.pageToken = token
          })
      }
      compared += Int(page.compared)
      notCompared += Int(page.notCompared)
      for drift in page.drifts {
        drifted.insert(drift.customerId)
        print(client.json ? String(decoding: drift.json(), as: UTF8.self) : drift.line)
      }
      token = page.nextPageToken
    } while !token.isEmpty
    if client.json {
      print("{\"compared\":\(compared),\"drifted\":\(drifted.count),\"notCompared\":\(notCompared)}")
    } else {
      print(
        Table.aligned([
          ("compared", "\(compared)"), ("drifted", "\(drifted.count)"),
          ("not compared", notCompared > 0 ? "\(notCompared)" : ""),
        ]))
    }
    if !drifted.isEmpty || notCompared > 0 { throw ExitCode(3) }
  }
}

extension CustomerDrift {
  fileprivate var line: String {
    "\(customerId)  \(reason)  \(originalTransactionId)\(transactionId.isEmpty ? "" : " \(transactionId)")"
  }
}
