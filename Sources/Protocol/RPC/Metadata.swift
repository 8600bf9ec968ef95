internal import Bytes
package import HTTP

/// The fields that callers and handlers attach to a call (gRPC over HTTP/2, "Custom-Metadata"), without
/// those that HTTP/2 and gRPC use themselves.
package struct Metadata: Hashable, Sendable {
  /// Names ending in `-bin` hold their decoded bytes, all others ASCII text as bytes.
  package private(set) var entries: [Entry] = []

  package struct Entry: Hashable, Sendable {
    package let name: String
    package let value: [UInt8]
  }

  package init() {}

  /// Reads the metadata among the fields of a request or response. A `-bin` value that is not base64 is
  /// left out, as grpc-go does.
  package init(_ fields: HeaderFields) {
    for field in fields.strings where !Self.isReserved(field.name) {
      if field.name.hasSuffix("-bin") {
        // Several values of one name may have been joined with commas on the way (RFC 9110, section 5.3).
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

  package mutating func append(_ name: String, _ value: [UInt8]) {
    entries.append(Entry(name: name, value: value))
  }

  /// The values of that (lowercase) name, in order.
  package subscript(name: String) -> [[UInt8]] { entries.filter { $0.name == name }.map(\.value) }

  /// The same as header fields, binary values in base64.
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
