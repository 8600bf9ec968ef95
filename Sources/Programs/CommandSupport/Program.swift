package import ArgumentParser
internal import Dispatch
internal import Foundation
internal import Platform

/// Runs the command line of a program.
package enum Program {
  /// Parses the command line and checks the limits of the process on its first thread, and runs the command. Not
  /// asynchronous, because the first asynchronous call creates threads and descriptors, which cannot fail without ending
  /// the process.
  package static func start(_ root: (some AsyncParsableCommand & Sendable).Type, as name: String) -> Never {
    let command: any ParsableCommand
    do { command = try root.parseAsRoot() } catch { end(name, with: error, of: root) }
    do throws(Failure) {
      if let server = command as? any ServerCommand { try server.requireLimits() }
    } catch {
      error.exit(name)
    }
    Task { await run(command, of: root, as: name) }
    dispatchMain()
  }

  /// Runs the command and ends the process.
  private static func run(
    _ command: any ParsableCommand, of root: (some AsyncParsableCommand).Type, as name: String
  ) async -> Never {
    var command = command
    do {
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      end(name, status: 0)
    } catch {
      end(name, with: error, of: root)
    }
  }

  /// Ends the process with an error. A ``Failure`` becomes one line on the standard error and a nonzero exit status.
  private static func end(_ name: String, with error: any Error, of root: (some AsyncParsableCommand).Type)
    -> Never
  {
    if let failure = error as? Failure { failure.exit(name) }
    let (message, status) = (root.fullMessage(for: error), root.exitCode(for: error).rawValue)
    // A request for help is an error, too.
    if status == 0 {
      print(message)
    } else if !message.isEmpty {
      FileHandle.standardError.write(Data("\(message)\n".utf8))
    }
    end(name, status: status)
  }

  /// Ends the process with an error if output was lost, and otherwise with `status`.
  private static func end(_ name: String, status: Int32) -> Never {
    do throws(Failure) { try StandardOutput.flush() } catch { error.exit(name) }
    Foundation.exit(status)
  }

  /// Raises the limit of open files and checks all limits, before the first thread and event loop: their creation
  /// cannot fail without ending the process.
  package static func requireLimits(eventLoops: Int) throws(Failure) {
    OpenFiles.raiseLimit()
    do throws(LimitTooLow) { try ProcessLimits.require(eventLoops: eventLoops) } catch {
      throw Failure(error.description)
    }
  }
}

/// A command that serves until a signal ends it.
package protocol ServerCommand: SendableMetatype {
  /// Checks that the limits of the process allow its event loops.
  func requireLimits() throws(Failure)
}
