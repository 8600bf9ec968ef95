/// Apple's marks on the certificates that may sign App Store data.
///
/// Many certificates end in Apple's roots, those of every developer included: without these marks any
/// of them could sign a purchase.
package enum MarkerOID {
  /// On the certificate that signs.
  package static let leaf = "1.2.840.113635.100.6.11.1"
  /// On the certificate between it and the root.
  package static let intermediate = "1.2.840.113635.100.6.2.1"
}
