internal import ArgumentParser
internal import CommandSupport
internal import SandboxCommands

@main
enum Main {
  static func main() { Program.start(EntitledSandbox.self, as: "entitled-sandbox") }
}

/// The program: the sandbox without the service, for tests of any backend.
struct EntitledSandbox: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitled-sandbox",
    abstract: "Run and use an App Store simulator for tests of a backend.",
    version: Version.current, subcommands: SandboxCommand.commands,
    defaultSubcommand: SandboxCommand.defaultCommand)
}
