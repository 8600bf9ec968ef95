internal import COpenSSL

extension Certificate {
  /// Whether `issuer` is, by name and key identifier, the authority that this certificate names as its
  /// own. No signature is looked at.
  func names(issuer: Certificate) -> Bool {
    X509_check_issued(issuer.pointer, pointer) == X509_V_OK
  }

  /// Whether it names itself as its issuer.
  var isSelfIssued: Bool {
    X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
  }
}
