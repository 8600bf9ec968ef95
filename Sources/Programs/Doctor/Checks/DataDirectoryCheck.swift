internal import Foundation
internal import Glibc

/// Looks at the owner and the mode of the data directory and its files. Files that root restored are the usual cause
/// of a service that does not start.
package struct DataDirectoryCheck: DoctorCheck {
  package let name = "data"
  package var subject: String { path }
  package let timeLimit = Duration.seconds(10)
  private let path: String

  /// `path` is the directory of the service.
  package init(path: String) { self.path = path }

  /// A fault for another user than the owner (except root), for a mode that lets others in, and for files of another
  /// owner than the directory's.
  package func run() async -> Finding {
    guard let directory = FileStatus(path), directory.isDirectory else {
      return .notChecked("no such directory", action: "pass the directory of the service as --data")
    }
    let user = geteuid()
    guard user == 0 || user == directory.owner else {
      return .fault(
        "the directory belongs to the user \(directory.owner), and you are \(user)",
        action:
          "run the doctor and the service as the user \(directory.owner), or run chown -R \(user) \(path)")
    }
    guard directory.permissions & 0o077 == 0 else {
      return .fault(
        "the directory has mode 0\(String(directory.permissions, radix: 8))", action: "run chmod 700 \(path)")
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let foreign = names.sorted().filter { name in
      FileStatus("\(path)/\(name)").map { $0.owner != directory.owner } ?? false
    }
    guard foreign.isEmpty else {
      return .fault(
        "\(foreign.joined(separator: ", ")) have another owner than the directory",
        action: "run chown -R --reference=\(path) \(path)")
    }
    return .ok("mode 0700, user \(directory.owner)")
  }
}
