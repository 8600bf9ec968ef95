internal import ArgumentParser
internal import CommandSupport
internal import SandboxCommands
internal import entitled

@main
enum Main {
  static func main() { Program.start(Entitled.self, as: "entitled") }
}

/// The program with a sandbox beside the service.
struct Entitled: AsyncParsableCommand {
  static let configuration = ServiceCommands.configuration(
    of: Entitled.self, serve: ServeCommand.self, sandbox: SandboxCommand.self)
}
