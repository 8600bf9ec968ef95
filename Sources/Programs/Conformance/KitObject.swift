internal import JSON

/// A JSON object of the kit, which names its file in errors. Each reading function throws ``ConformanceKitError`` for a
/// member that is missing or of another type.
struct KitObject {
  let json: JSONObject
  private let file: String

  private init(_ json: JSONObject, _ file: String) {
    self.json = json
    self.file = file
  }

  /// Parses a file of at most 64 MiB. A member that occurs twice is an error, because tools would read different ones.
  init(parsing text: String, _ file: String) throws(ConformanceKitError) {
    let value: JSONValue
    do {
      value = try JSONValue(
        parsing: Array(text.utf8), limits: JSONLimits(maximumBytes: 64 << 20), duplicates: .rejected)
    } catch {
      throw ConformanceKitError(file: file, problem: "not JSON: \(error)")
    }
    guard case .object(let json) = value else {
      throw ConformanceKitError(file: file, problem: "not a JSON object")
    }
    self.init(json, file)
  }

  /// An error about this object's file.
  func error(_ problem: String) -> ConformanceKitError { ConformanceKitError(file: file, problem: problem) }

  func text(_ member: String) throws(ConformanceKitError) -> String {
    guard let text = json[member]?.stringValue else { throw error("'\(member)' is not a text") }
    return text
  }

  func optionalText(_ member: String) -> String? { json[member]?.stringValue }

  func integer(_ member: String) throws(ConformanceKitError) -> Int64 {
    guard let number = json[member]?.int64Value else { throw error("'\(member)' is not an integer") }
    return number
  }

  func object(_ member: String) throws(ConformanceKitError) -> KitObject {
    guard let object = json[member]?.objectValue else { throw error("'\(member)' is not an object") }
    return KitObject(object, file)
  }

  func objects(_ member: String) throws(ConformanceKitError) -> [KitObject] {
    guard let elements = json[member]?.arrayValue else { throw error("'\(member)' is not a list") }
    return try elements.map { element throws(ConformanceKitError) in
      guard let object = element.objectValue else {
        throw error("'\(member)' has an element that is no object")
      }
      return KitObject(object, file)
    }
  }

  func level() throws(ConformanceKitError) -> VectorLevel {
    guard let level = VectorLevel(rawValue: try text("level")) else { throw error("unknown level") }
    return level
  }

  /// All members, which must be texts.
  func texts() throws(ConformanceKitError) -> [String: String] {
    var texts: [String: String] = [:]
    for (name, value) in json {
      guard let text = value.stringValue else { throw error("'\(name)' is not a text") }
      texts[name] = text
    }
    return texts
  }
}
