internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Console
internal import SignedData

/// `entitled console`.
struct ConsoleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "console", abstract: "Print a link that signs in to the console.",
    discussion: "The link works once, within 15 minutes. It needs the files of the service, not its API.")

  @Option(help: "Console address (default: 127.0.0.1:8070).") var console: String?
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "YAML configuration (default: ENTITLED_CONFIG, or the demo configuration).") var config:
    String?

  func run() throws {
    let address = try ServerOption.console.address(
      console ?? ServerOption.environment(ServerOption.console.environmentVariable) ?? "127.0.0.1:8070")
    let configuration = try Startup.configuration(file: config ?? ServerOption.environment("ENTITLED_CONFIG"))
    let path = configuration.erasures.key ?? "\(ServerOption.data.value(data))/entitled.key"
    do throws(PrivateKeyFileError) {
      let links = OneTimeLinks(installation: try InstallationKey(readingFrom: path))
      print(links.link(at: address, isSecure: configuration.listeners.console.listener.tls != nil))
    } catch {
      throw Failure(error.description)
    }
  }
}
