internal import AppStore
internal import Bytes
internal import Synchronization

/// A chain that leads to a trusted root, with the key that it certifies.
struct VerifiedChain: Sendable {
  let key: PublicKey
  let signer: Signer
  /// The environments that the root is trusted for.
  let environments: Set<Environment>
  /// Leaf, intermediate, root.
  let certificates: [Certificate]
}

/// The root that a signing certificate leads to.
struct SignerTrust: Sendable {
  let signer: Signer
  /// The environments that the root is trusted for.
  let environments: Set<Environment>
  /// Leaf, intermediate, root.
  let certificates: [Certificate]
}

/// Builds certificate chains to the trusted roots.
final class ChainVerifier: Sendable {
  /// Anchors with different names, and their store: of several roots with one name, OpenSSL tries only one.
  private struct Group: Sendable {
    let store: CertificateStore
    let anchors: [TrustAnchors.Anchor]
  }

  private let groups: [Group]

  /// Checks configured roots less strictly: test authorities, including that of Apple's server libraries, lack
  /// extensions that RFC 5280 requires.
  init(anchors: TrustAnchors) throws(CryptographyError) {
    groups = try Self.groups(anchors.apple, strict: true) + Self.groups(anchors.configured, strict: false)
  }

  /// Puts anchors of the same name into different stores, because OpenSSL finds an issuer by its name and
  /// would try only one of them.
  private static func groups(
    _ anchors: [TrustAnchors.Anchor], strict: Bool
  ) throws(CryptographyError) -> [Group] {
    var groups: [[TrustAnchors.Anchor]] = []
    for anchor in anchors {
      let free = groups.firstIndex { group in
        !group.contains { $0.certificate.hasSameSubject(as: anchor.certificate) }
      }
      if let free { groups[free].append(anchor) } else { groups.append([anchor]) }
    }
    return try groups.map { anchors throws(CryptographyError) in
      Group(
        store: try CertificateStore(roots: anchors.map(\.certificate), strict: strict), anchors: anchors)
    }
  }

  func verify(_ header: JWSHeader) throws(VerificationError) -> VerifiedChain {
    let trust = try trace(leaf: header.leaf, intermediate: header.intermediate)
    guard let key = PublicKey(try publicKey(of: header.leaf)) else { throw .unsupportedKey }
    return VerifiedChain(
      key: key, signer: trust.signer, environments: trust.environments, certificates: trust.certificates)
  }

  /// Builds the chain of a signing certificate: its signer, validity and trusted environments. The caller
  /// checks the marker OIDs.
  func trace(leaf: Certificate, intermediate: Certificate) throws(VerificationError) -> SignerTrust {
    let anchor = try anchor(of: leaf, intermediate)
    let certificates = [leaf, intermediate, anchor.certificate]
    guard let start = certificates.map(\.notBefore).max(), let end = certificates.map(\.notAfter).min(),
      start <= end
    else { throw .untrustedRoot("the certificates were never valid at the same time") }
    let signer = Signer(subject: leaf.subject, anchor: anchor.certificate.subject, validity: start...end)
    return SignerTrust(signer: signer, environments: anchor.environments, certificates: certificates)
  }

  /// The anchor that the path of a leaf ends at.
  private func anchor(of leaf: Certificate, _ intermediate: Certificate) throws(VerificationError)
    -> TrustAnchors.Anchor
  {
    var refusal = ""
    for group in groups {
      switch try path(of: leaf, intermediate, in: group.store) {
      case .found(let root):
        if let anchor = group.anchors.first(where: { $0.certificate.der == root }) { return anchor }
      case .refused(let reason): refusal = reason
      }
    }
    throw .untrustedRoot(refusal)
  }

  private func path(of leaf: Certificate, _ intermediate: Certificate, in store: CertificateStore)
    throws(VerificationError) -> CertificateStore.Path
  {
    do {
      return try store.path(leaf: leaf, intermediate: intermediate)
    } catch { throw .cryptographyFailed(error) }
  }

  private func publicKey(of leaf: Certificate) throws(VerificationError) -> KeyReference {
    do {
      return try leaf.publicKey()
    } catch { throw .malformedCertificate(position: 0, detail: error.description) }
  }
}

/// A cache of verified chains by their exact bytes: the header of a JWS, or the certificates of a receipt.
///
/// Apple signs with a handful of chains at a time, and building one verifies several signatures. Only chains
/// of documents with a valid signature are cached: otherwise forgeries could fill the cache with variants of
/// one chain. The signature of each document is always verified.
final class ChainCache<Chain: Sendable>: Sendable {
  /// A chain with the bytes that it was built from.
  private struct Entry: Sendable {
    let bytes: [UInt8]
    let chain: Chain
  }

  /// The most recent is last.
  private let entries = Mutex<[Entry]>([])
  private let capacity: Int

  init(capacity: Int = 32) { self.capacity = capacity }

  /// Returns the chain cached for exactly these bytes.
  func chain(for bytes: ArraySlice<UInt8>) -> Chain? {
    let entries = entries.withLock { $0 }
    return entries.last { $0.bytes[...].hasSameBytes(as: bytes) }?.chain
  }

  /// Caches a chain, and evicts the oldest if the cache is full.
  func insert(_ chain: Chain, for bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    entries.withLock { entries in
      guard !entries.contains(where: { $0.bytes == bytes }) else { return }
      if entries.count >= capacity { entries.removeFirst() }
      entries.append(Entry(bytes: bytes, chain: chain))
    }
  }
}
