package import JSON

/// A JSON object that Apple documents, or a part of one, with its members as typed properties.
///
/// All members are optional, as Apple documents them; which of them must be there is for the reader to
/// say. What has no property is not lost: ``json`` has every member as it came.
package protocol DecodedPayload: Hashable, Sendable {
  /// The members as they came, those without a property included.
  var json: JSONObject { get }

  /// Reads the members. Throws if one has not the type that Apple documents.
  init(json: JSONObject) throws(PayloadError)
}
