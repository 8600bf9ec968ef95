internal import CConformanceKit
package import JSON
internal import Platform

/// The vectors of the conformance kit: documents and lives, each with what a backend must make of it. A backend that
/// passes all required vectors verifies and evaluates as Apple's documentation demands.
///
/// The format is described in `conformance/README.md`.
package struct ConformanceKit: Sendable {
  /// The contents of the kit's files, by path.
  package let files: [String: String]
  /// The documents to verify.
  package let groups: [VerificationGroup]
  /// The lives to derive states from.
  package let lifecycles: [Lifecycle]
  /// The number of orders in which each lifecycle is delivered, at least 1.
  package let runs: Int

  /// A kit of these files, by path; others than the vectors are not read.
  ///
  /// - Throws: ``ConformanceKitError`` for a file that is missing or malformed, and for another format than 1.
  package init(files: [String: String]) throws(ConformanceKitError) {
    self.files = files
    let kit = try KitObject(parsing: files["kit.json"] ?? "", "kit.json")
    guard try kit.integer("format") == 1 else { throw kit.error("the format is not 1") }
    runs = Int(max(1, try kit.integer("runs")))
    groups = try Self.objects(files, below: "verification/").map { object throws(ConformanceKitError) in
      try VerificationGroup(object)
    }
    lifecycles = try Self.objects(files, below: "lifecycles/").map { object throws(ConformanceKitError) in
      try Lifecycle(object)
    }
  }

  /// The kit that the program contains, compressed.
  ///
  /// - Throws: ``ConformanceKitError``, which only a wrong build causes.
  package static func embedded() throws(ConformanceKitError) -> ConformanceKit {
    let bytes = UnsafeRawBufferPointer(
      start: entitled_conformance_kit(), count: entitled_conformance_kit_size())
    let text: [UInt8]
    do { text = try gunzip(bytes, limit: 64 << 20) } catch {
      throw ConformanceKitError(file: "the program's kit", problem: error.description)
    }
    let object = try KitObject(parsing: String(decoding: text, as: UTF8.self), "the program's kit")
    return try ConformanceKit(files: try object.texts())
  }

  /// The files of a folder, in the order of their paths.
  private static func objects(_ files: [String: String], below folder: String) throws(ConformanceKitError)
    -> [KitObject]
  {
    let vectors = files.filter { $0.key.hasPrefix(folder) && $0.key.hasSuffix(".json") }
    return try vectors.sorted { $0.key < $1.key }.map { path, text throws(ConformanceKitError) in
      try KitObject(parsing: text, path)
    }
  }
}

/// The reason a kit cannot be read.
package struct ConformanceKitError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file in the kit.
  package let file: String
  /// What is wrong, for people.
  package let problem: String

  package var description: String { "\(file): \(problem)" }
}

/// The weight of a vector.
package enum VectorLevel: String, Hashable, Sendable {
  /// A backend that fails it grants access without a purchase, or withholds what was bought.
  case required
  /// Strictness that protects against documents that only Apple could sign.
  case recommended
}

/// The vectors of one kind of document.
package struct VerificationGroup: Hashable, Sendable {
  /// The kind of its documents.
  package let name: String
  /// In the order of the kit.
  package let vectors: [VerificationVector]

  init(_ object: KitObject) throws(ConformanceKitError) {
    name = try object.text("group")
    vectors = try object.objects("vectors").map { vector throws(ConformanceKitError) in
      try VerificationVector(vector)
    }
  }
}

/// A document, and whether it is to be accepted.
package struct VerificationVector: Hashable, Sendable {
  /// The correct verdict about a document.
  package enum Expectation: Hashable, Sendable {
    /// The decoded payload has at least these members.
    case accepted(payload: JSONObject)
    /// Each of the reasons is a correct name of the cause.
    case rejected(reasons: [String])
  }

  /// Unique in its group.
  package let name: String
  /// The weight of a failure.
  package let level: VectorLevel
  /// The property that the vector is about, as a sentence.
  package let note: String
  /// `transaction`, `renewal-info`, `app-transaction`, `notification` or `receipt`.
  package let kind: String
  /// The JWS, the body of a notification, or a receipt in Base64.
  package let document: String
  /// The environment that the app accepts.
  package let environment: String
  /// The identifier of the device that a receipt must be for, in Base64.
  package let device: String?
  /// The correct verdict.
  package let expectation: Expectation

  init(_ object: KitObject) throws(ConformanceKitError) {
    name = try object.text("name")
    level = try object.level()
    note = try object.text("note")
    kind = try object.text("kind")
    document = try object.text("document")
    environment = object.optionalText("environment") ?? "Sandbox"
    device = object.optionalText("device")
    let expected = try object.object("expected")
    switch try expected.text("verdict") {
    case "accepted": expectation = .accepted(payload: expected.json["payload"]?.objectValue ?? JSONObject())
    case "rejected":
      let reasons = (expected.json["reasons"]?.arrayValue ?? []).compactMap(\.stringValue)
      guard !reasons.isEmpty else { throw expected.error("a rejection needs reasons") }
      expectation = .rejected(reasons: reasons)
    case let other: throw expected.error("unknown verdict '\(other)'")
    }
  }
}

/// The life of one customer: steps, and the state after each of them.
package struct Lifecycle: Hashable, Sendable {
  /// A document that arrives, and the state after it.
  package struct Step: Hashable, Sendable {
    /// The event of the step, as a sentence.
    package let note: String
    /// `notification`: the body that the App Store sends; `transaction`: the app submits it.
    package let kind: String
    /// The body of the notification, or the JWS of the transaction.
    package let document: String
    /// The state after the step, at some instants.
    package let expected: [ExpectedState]
  }

  /// Unique in the kit.
  package let name: String
  /// The weight of a failure.
  package let level: VectorLevel
  /// The property that the life is about, as a sentence.
  package let note: String
  /// The customer's id, which is the `appAccountToken` of the transactions: a UUID in lower case.
  package let customer: String
  /// At least one, in the order of arrival.
  package let steps: [Step]

  init(_ object: KitObject) throws(ConformanceKitError) {
    name = try object.text("lifecycle")
    level = try object.level()
    note = try object.text("note")
    customer = try object.text("customer")
    steps = try object.objects("steps").map { step throws(ConformanceKitError) in
      Step(
        note: try step.text("note"), kind: try step.text("kind"), document: try step.text("document"),
        expected: try step.objects("expected").map { state throws(ConformanceKitError) in
          try ExpectedState(state)
        })
    }
    guard !steps.isEmpty else { throw object.error("a lifecycle needs steps") }
  }
}

/// The correct answer about one entitlement at an instant.
package struct ExpectedState: Hashable, Sendable {
  /// Milliseconds since 1970.
  package let at: Int64
  /// The name in the kit's catalog.
  package let entitlement: String
  /// Whether access is granted.
  package let isEntitled: Bool
  /// `ACTIVE`, `GRACE_PERIOD`, `BILLING_RETRY`, `EXPIRED`, `REVOKED` or `NONE`.
  package let status: String
  /// The end of access, or of the last access, in milliseconds since 1970; `nil`: there is none.
  package let until: Int64?

  init(_ object: KitObject) throws(ConformanceKitError) {
    at = try object.integer("at")
    entitlement = try object.text("entitlement")
    guard let isEntitled = object.json["entitled"]?.boolValue else {
      throw object.error("'entitled' is not a boolean")
    }
    self.isEntitled = isEntitled
    status = try object.text("status")
    until = object.json["until"]?.int64Value
  }
}
