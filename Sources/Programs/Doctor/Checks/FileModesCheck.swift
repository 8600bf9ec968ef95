internal import Foundation
internal import Glibc
internal import SignedData

/// Looks for keys, secrets and the configuration that other users can read or change. It names the commands that
/// correct them.
package struct FileModesCheck: DoctorCheck {
  package let name = "files"
  package let subject = ""
  package let timeLimit = Duration.seconds(10)
  private let configuration: String?
  private let secrets: [String]
  private let password: String?
  private let dataDirectory: String

  /// `configuration` is `nil` without a file. `secrets` are files and directories of files; `password` is the file with
  /// that of the database (``PasswordFile``). The owner of the data directory is the user of the service.
  package init(configuration: String?, secrets: [String], password: String? = nil, dataDirectory: String) {
    self.configuration = configuration
    self.secrets = secrets
    self.password = password
    self.dataDirectory = dataDirectory
  }

  /// One fault for all files together, whose action is the `chmod` commands for them.
  package func run() async -> Finding {
    let secrets = secrets.flatMap(Self.files(at:))
    let password = [password].compactMap(\.self)
    let files = secrets + password
    let exposed = secrets.filter(Self.isExposed) + password.filter(isExposedPassword)
    let missing = files.filter { FileStatus($0) == nil }
    let open = [configuration].compactMap(\.self).filter(isOpen)
    guard exposed.isEmpty, missing.isEmpty, open.isEmpty else {
      let problems =
        exposed.map { "\($0) has mode \(Self.mode($0)), so others than its owner may access it" }
        + open.map { "\($0) has mode \(Self.mode($0)), so every user may read or change it" }
        + missing.map { "\($0) cannot be read" }
      let commands =
        (exposed.isEmpty ? [] : ["chmod 600 \(exposed.joined(separator: " "))"])
        + open.map { "chmod o-rwx \($0)" } + (missing.isEmpty ? [] : ["correct the configuration"])
      return .fault(problems.joined(separator: ", "), action: commands.joined(separator: " and "))
    }
    return .ok("the configuration, keys and secrets: \(files.count)")
  }

  /// Whether others than the owner may read or change a key or secret.
  private static func isExposed(_ secret: String) -> Bool {
    guard let status = FileStatus(secret) else { return false }
    // Root may share a file with the service's group, as Kubernetes and systemd do.
    return status.permissions & (status.owner == 0 ? 0o037 : 0o077) != 0
  }

  /// Whether the service would refuse the file because of its mode or owner.
  private func isExposedPassword(_ path: String) -> Bool {
    do throws(PrivateKeyFileError) { try PasswordFile.check(path, user: serviceUser) } catch {
      if case .accessibleToOthers = error { return true }
    }
    return false
  }

  /// The user that the service runs as: the owner of the data directory, or this process's if there is none.
  private var serviceUser: UInt32 { FileStatus(dataDirectory)?.owner ?? geteuid() }

  /// Whether every user may change the configuration, or may read it without need: a service of another user than the
  /// file's owner reads it as every user does (systemd's `DynamicUser=`, a ConfigMap).
  private func isOpen(_ configuration: String) -> Bool {
    guard let status = FileStatus(configuration) else { return false }
    if status.permissions & 0o002 != 0 { return true }
    return status.permissions & 0o004 != 0 && status.owner == serviceUser
  }

  /// The file itself, or the files in the directory.
  private static func files(at path: String) -> [String] {
    guard FileStatus(path)?.isDirectory == true else { return [path] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.sorted().map { "\(path)/\($0)" }.filter { FileStatus($0)?.isRegular == true }
  }

  /// The mode as `chmod` takes it.
  private static func mode(_ path: String) -> String {
    "0\(String(FileStatus(path)?.permissions ?? 0, radix: 8))"
  }
}

/// Owner and mode of a file, behind symbolic links.
struct FileStatus {
  private let status: stat

  /// `nil` if the file does not exist or cannot be reached.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.status = status
  }

  var owner: UInt32 { status.st_uid }
  /// The nine permission bits.
  var permissions: UInt32 { status.st_mode & 0o777 }
  var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
  var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
}
