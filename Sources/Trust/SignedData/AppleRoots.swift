internal import AppStore

/// Apple's three root authorities, as names and keys. The service needs no certificate file to start.
///
/// App Store data is signed under G3 today, receipts under the oldest. All three are trusted; ``MarkerOID``
/// decides which certificates under them may sign. Source of the names and keys:
/// https://www.apple.com/certificateauthority/.
enum AppleRoots {
  /// A root by the members that identify it in a chain.
  struct Root {
    let name: DistinguishedName
    /// SubjectPublicKeyInfo, base64.
    let key: String
  }

  static let all = [root, g2, g3]

  private static let unit = ("OU", "Apple Certification Authority")
  private static let organization = ("O", "Apple Inc.")
  private static let country = ("C", "US")

  /// RSA 2048.
  private static let root = Root(
    name: DistinguishedName([country, organization, unit, ("CN", "Apple Root CA")]),
    key: """
      MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA5JGpCR+R2x5HUOsF7V55hC3rNqJXTFXsixmJ3vlLbPUHqyIwAugY\
      PvhQCdN/QaiY+dHKZpwkaxHQo7vkGyrDH5WeegykR4tb1BY3M8vED03OFGnRyRly9V0O1X9fm/IlA7pVj01dDfFkNSMVSxVZ\
      HbOU9/acns9QusFYUGePCLQg98usLCBvcLY/ATCMt0PPD5098ytJKBrI/s61uQ7ZXhzWyz21Oq30Dw4AkguxIRYudNU8Ddti\
      FqujcZJHU1XBry9Bs/j743DN5qNMRX4fTGtQlkGJxHRiCxCDQYczioGxMFjsWgQyjGizjx3eZXP/Z15lvEnYdp8zFGWhd5TJ\
      LQIDAQAB
      """)

  /// RSA 4096.
  private static let g2 = Root(
    name: DistinguishedName([("CN", "Apple Root CA - G2"), unit, organization, country]),
    key: """
      MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEA2BESSEjaKYpJxRzH7G4zbf5N++Ac3qxe4janJPl/UGtMzrkwVCfl\
      s9btJeYwtgU3XhQiEcXoqhvS+7LSCZU4pO8qSYxdPnFmAzj7FvWFiORakgwEMvLIQPtSX5/2wPHjukWgUNUSi/Ld3pGGI/D1\
      tnIuAdoL9i45CF8ZoWNBCxynlMGGxFMvdvYK1wzRgz8aUxnzV9Unf/wTuPiSjfzTKEM8tWgAJV0nYtPdVd1EIJCDNZPFv7gZ\
      +2vj3AhC5q9t+p5Ayk6FhXhJsdfDwTA5Mqt+X6rTi2+fLRohaHBns6PxmEFtkXz419uo518hGowzvzF0t7jR9OAi9L9yNN/3\
      gU1xfVGh4rPw0ygWc2/NzK03fU7rrUDhP4H99z0KPqLxvTGWKVncwhmAjFt0xizTEFMmHRRPxNSBZjyHZzMnFAjptHeENFKP\
      ifhomBe/w7uqE5MfXVQvqMd8+w0UvhU9JDTymtx1QWYitAHWC6+QngzqYvibWTwI4pY05GPevDfU6wyIA0MLUK+gNN1QTRX7\
      WiTYDPoMY54fA7Hh7uGqQ/RmZSg3AjHvAcce0cyfbcpUOkDbzs9PRotKZZpqxmhs18yZG0ewcsN3j8T3YZx0H879a6HCnJSC\
      q5Si570burlwOZUXxSnzOVg09cSkxntguWZDUD9uYfwO+YaqYAxDS5UCAwEAAQ==
      """)

  /// EC P-384.
  private static let g3 = Root(
    name: DistinguishedName([("CN", "Apple Root CA - G3"), unit, organization, country]),
    key: """
      MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEmOkvPUBypO2TInKBExzdEJXxxaNOcdwUFtkO5aYFKndke19OONO7HES1f/UftjJi\
      XcnphFtPME8RWgD9WFgMpfUPLE0HRxN12peXl28xXO0rnXsgO9i5VNlemaQ6UQox
      """)
}

/// The extensions by which Apple marks certificates that may sign App Store data.
///
/// Every developer's certificate chains to Apple's roots too: without these marks any of them could sign a
/// purchase.
package enum MarkerOID {
  /// Marks the signing certificate.
  package static let leaf = "1.2.840.113635.100.6.11.1"
  /// Marks the intermediate certificate.
  package static let intermediate = "1.2.840.113635.100.6.2.1"
}
