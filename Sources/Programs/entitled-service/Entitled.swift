internal import ArgumentParser
internal import CommandSupport
internal import entitled

@main
enum Main {
  static func main() { Program.start(Entitled.self, as: "entitled") }
}

/// The program for production: it has no sandbox, and is installed as `entitled`.
struct Entitled: AsyncParsableCommand {
  static let configuration = ServiceCommands.configuration(
    of: Entitled.self, serve: ServeCommand.self, sandbox: MissingSandboxCommand.self)
}

/// `entitled serve`.
struct ServeCommand: AsyncParsableCommand, ServerCommand {
  static let configuration = ServeOptions.command

  @OptionGroup var options: ServeOptions

  @Option(help: "Only 'off', the default: this program has no sandbox.") var sandbox: String?

  func requireLimits() throws(Failure) { try options.requireLimits() }

  func run() async throws {
    if let address = sandbox ?? ServerOption.environment(ServerOption.sandbox.environmentVariable),
      address != "off"
    {
      throw Failure(
        "--sandbox (ENTITLED_SANDBOX) is '\(address)', and this program has no sandbox; "
          + "run the program entitled-sandbox, and set --sandbox off", status: 64)
    }
    try await options.serve(with: nil)
  }
}

/// `entitled sandbox …`, which names the program that has these commands.
struct MissingSandboxCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox", abstract: "In the program entitled-sandbox.", shouldDisplay: false,
    helpNames: [])

  @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

  func run() throws {
    throw Failure(
      "this program has no sandbox; use the program entitled-sandbox: "
        + (["entitled-sandbox"] + arguments).joined(separator: " "), status: 64)
  }
}
