package import AppStore
package import Foundation
package import JSON

/// Third-party test material that is not part of the repository: `ENTITLED_TESTDATA`, by default a folder
/// beside the package.
package enum TestData {
  /// `nil` if there is none; suites that need it are skipped then.
  package static let folder: URL? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let given = ProcessInfo.processInfo.environment["ENTITLED_TESTDATA"] ?? "../shared/testdata"
    let folder = URL(filePath: given, relativeTo: root)
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  /// Returns the bytes of a file.
  package static func bytes(_ path: String) throws -> [UInt8] {
    guard let folder else { throw CocoaError(.fileNoSuchFile) }
    return [UInt8](try Data(contentsOf: folder.appending(path: path)))
  }

  /// Returns the text of a file in UTF-8.
  package static func text(_ path: String) throws -> String {
    String(decoding: try bytes(path), as: UTF8.self)
  }

  /// Returns the bytes that a file contains in Base64.
  package static func decoded(_ path: String) throws -> [UInt8] {
    let data = Data(base64Encoded: try text(path), options: .ignoreUnknownCharacters)
    guard let data else { throw CocoaError(.fileReadCorruptFile) }
    return [UInt8](data)
  }
}

/// The number of random lives, customers or families in a test: `ENTITLED_LIVES`, or `short`.
/// `make test-long` has 200.
package func lifeCount(short: Int) -> Int {
  ProcessInfo.processInfo.environment["ENTITLED_LIVES"].flatMap { Int($0) } ?? short
}

/// A random number generator with a seed, so that a failure can be reproduced.
package struct SplitMix64: RandomNumberGenerator {
  package var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The app that ``TestChain/transaction(signed:bundle:environment:)`` names.
package let exampleApp = AppIdentity(bundleID: "com.example", appAppleID: 1234)

extension TestChain {
  /// Returns the smallest transaction payload that verification accepts.
  package static func transaction(
    signed: Instant = middle, bundle: String = "com.example", environment: String = "Sandbox"
  ) -> JSONObject {
    [
      "transactionId": "1", "bundleId": .string(bundle), "environment": .string(environment),
      "signedDate": .number(JSONNumber(signed.millisecondsSince1970)),
    ]
  }
}
