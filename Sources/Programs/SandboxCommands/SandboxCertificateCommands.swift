internal import ArgumentParser
internal import CommandSupport
internal import JSON
internal import Sandbox
internal import SandboxClient

/// `entitled sandbox certificates`.
struct SandboxCertificatesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "certificates", abstract: "Print the chain that signs the sandbox's documents.")

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "JSON output.") var json = false

  func run() async throws {
    let response = try await sandbox.request("GET", "certificates")
    print(json ? response.text : response.json.chainText)
  }
}

/// `entitled sandbox rotate`.
struct SandboxRotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Replace a certificate of the sandbox's chain.",
    discussion: """
      Certificates below it are replaced, too. A rotation of the root changes between the two roots of the sandbox.
      Examples: \(SandboxCommand.words) rotate leaf
                \(SandboxCommand.words) rotate intermediate --revoke
      """)

  @OptionGroup var sandbox: SandboxClient
  @Flag(help: "Report the replaced certificate as revoked by OCSP; not for the root.") var revoke = false
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "Certificate: leaf, intermediate or root.") var certificate: String

  func run() async throws {
    let known = SandboxCertificate.allCases.map(\.rawValue)
    guard known.contains(certificate) else {
      throw Failure(
        "unknown certificate '\(certificate)'; expected one of \(known.joined(separator: ", "))", status: 64)
    }
    let response = try await sandbox.post(
      "rotate", ["certificate": .string(certificate), "revoke": .bool(revoke)])
    print(json ? response.text : response.json.chainText)
  }
}

extension JSONObject {
  /// The chain of a response, a line for each certificate, and the number of revoked certificates.
  fileprivate var chainText: String {
    let chain = (self["chain"]?.arrayValue ?? []).compactMap(\.objectValue).map { certificate in
      ["certificate", "serialNumber", "notAfter", "subject"]
        .map { certificate[$0]?.stringValue ?? "" }.joined(separator: "\t")
    }
    let revoked = self["revoked"]?.arrayValue?.count ?? 0
    return (chain + (revoked == 0 ? [] : ["\(revoked) revoked"])).joined(separator: "\n")
  }
}
