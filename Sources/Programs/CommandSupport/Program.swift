package import ArgumentParser
internal import Dispatch
internal import Foundation
internal import Platform

/// Runs the command line of a program.
package enum Program {
  /// Checks the limits of the process on its first thread and runs the command. Not asynchronous, because the first
  /// asynchronous call creates threads and descriptors, which cannot fail without ending the process.
  package static func start(_ root: (some AsyncParsableCommand & Sendable).Type, as name: String) -> Never {
    do throws(Failure) {
      if let command = try? root.parseAsRoot() as? any ServerCommand { try command.requireLimits() }
    } catch {
      error.exit(name)
    }
    Task {
      await run(root, as: name)
      Foundation.exit(0)
    }
    dispatchMain()
  }

  /// Runs the command. A ``Failure`` becomes one line on the standard error and a nonzero exit status.
  private static func run(_ root: (some AsyncParsableCommand).Type, as name: String) async {
    do {
      var command = try root.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      failure.exit(name)
    } catch {
      root.exit(withError: error)
    }
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
package protocol ServerCommand {
  /// Checks that the limits of the process allow its event loops.
  func requireLimits() throws(Failure)
}
