/// The JSON form of a field mask: the paths in lowerCamelCase with commas between them (protobuf's field_mask.proto, "JSON
/// Encoding of Field Masks").
enum FieldMaskText {
  static func text(of mask: GoogleProtobuf.FieldMask) -> String {
    mask.paths.map { path in
      path.withCString { JSONNames.lowerCamelCase($0) }
    }.joined(separator: ",")
  }

  /// The paths with names as in the contract; `nil` if one is empty or has an underscore, which no JSON name has.
  static func paths(_ text: String) -> [String]? {
    if text.isEmpty { return [] }
    var paths: [String] = []
    for path in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard !path.isEmpty, !path.utf8.contains(UInt8(ascii: "_")) else { return nil }
      paths.append(underscored(path))
    }
    return paths
  }

  /// Converts "appAccountToken" to "app_account_token".
  private static func underscored(_ name: Substring) -> String {
    var result: [UInt8] = []
    for byte in name.utf8 {
      if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte {
        result += [UInt8(ascii: "_"), byte + 0x20]
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
