internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled migrate compare`.
struct MigrateCompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Compare stored purchases with Apple's current data.",
    discussion: """
      Changes nothing. Exit status 0 if all customers were compared and none differs, 3 otherwise.
      """)

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Option(help: "Sampling interval: compare one of this number of customers.")
  var sampleEvery: Int32 = 1

  func run() async throws {
    let (app, environment) = (try scope.app.id(), try scope.appEnvironment())
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
