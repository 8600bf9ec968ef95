internal import Bytes
package import HTTP

/// The fields that callers and handlers attach to a call, without the reserved ones (gRPC over HTTP/2,
/// "Custom-Metadata").
package struct Metadata: Hashable, Sendable {
  /// Entries with names that end in `-bin` have their decoded bytes, others the bytes of ASCII text.
  package private(set) var entries: [Entry] = []

  /// One name, in lowercase, with one value.
  package struct Entry: Hashable, Sendable {
    /// In lower case; a name with the suffix `-bin` has a binary value.
    package let name: String
    /// The bytes, decoded from Base64 if the name has the suffix `-bin`.
    package let value: [UInt8]
  }

  package init() {}

  /// Extracts the metadata from header fields. Skips `-bin` values that are not Base64, like grpc-go.
  package init(_ fields: HeaderFields) {
    for field in fields.strings where !Self.isReserved(field.name) {
      if field.name.hasSuffix("-bin") {
        // Proxies may join several values of one name with commas (RFC 9110, section 5.3).
        for part in field.value.split(separator: ",") {
          if let bytes = Base64.standard.decodeLeniently(String(part.drop { $0 == " " })) {
            append(field.name, bytes)
          }
        }
      } else {
        append(field.name, Array(field.value.utf8))
      }
    }
  }

  /// Appends an entry. Names must be lowercase; only names that end in `-bin` may have arbitrary bytes.
  package mutating func append(_ name: String, _ value: [UInt8]) {
    entries.append(Entry(name: name, value: value))
  }

  /// The values of a lowercase name, in order.
  package subscript(name: String) -> [[UInt8]] { entries.filter { $0.name == name }.map(\.value) }

  /// The header fields, with binary values in Base64.
  package var fields: HeaderFields {
    HeaderFields(
      entries.map { entry in
        let isBinary = entry.name.hasSuffix("-bin")
        return (
          entry.name,
          isBinary
            ? Base64.standard.encode(entry.value, padded: false)
            : String(decoding: entry.value, as: UTF8.self)
        )
      })
  }

  private static func isReserved(_ name: String) -> Bool {
    name.hasPrefix(":") || name.hasPrefix("grpc-") || ["content-type", "te", "user-agent"].contains(name)
  }
}
