package import ArgumentParser

/// `entitled sandbox`: the App Store simulator. The program `entitled-sandbox` has the same commands.
package struct SandboxCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "sandbox", abstract: "Run the sandbox, an App Store simulator, and use it.",
    subcommands: commands, defaultSubcommand: SandboxServeCommand.self)

  /// The command without a name.
  package static var defaultCommand: any ParsableCommand.Type { SandboxServeCommand.self }

  /// The commands in the order of the help.
  package static var commands: [any ParsableCommand.Type] {
    [
      SandboxServeCommand.self, SandboxBuyCommand.self, SandboxDoCommand.self, SandboxAdvanceCommand.self,
      SandboxScenarioCommand.self, SandboxReportCommand.self, SandboxWorldCommand.self,
      SandboxStoreKitCommand.self, SandboxCertificatesCommand.self, SandboxRotateCommand.self,
    ]
  }

  /// The words before a command in the examples of the help, which depend on the program that runs.
  static let words =
    CommandLine.arguments.first?.split(separator: "/").last == "entitled-sandbox"
    ? "entitled-sandbox" : "entitled sandbox"

  package init() {}
}
