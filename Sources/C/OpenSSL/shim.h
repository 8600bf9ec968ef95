// OpenSSL 3, for SignedData. Swift cannot call C macros, so functions wrap those for stacks.
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline STACK_OF(X509) *entitled_certificates_new(void) { return sk_X509_new_null(); }

/// Does not take ownership of the certificate.
static inline int entitled_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
  return sk_X509_push(stack, certificate);
}

static inline int entitled_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }

static inline X509 *entitled_certificates_at(const STACK_OF(X509) *stack, int index) {
  return sk_X509_value(stack, index);
}

static inline void entitled_certificates_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

/// Frees the list and releases the certificates in it.
static inline void entitled_certificates_release(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int entitled_signers_count(CMS_ContentInfo *message) {
  STACK_OF(CMS_SignerInfo) *signers = CMS_get0_SignerInfos(message);
  return signers == NULL ? 0 : sk_CMS_SignerInfo_num(signers);
}

static inline CMS_SignerInfo *entitled_signers_first(CMS_ContentInfo *message) {
  return sk_CMS_SignerInfo_value(CMS_get0_SignerInfos(message), 0);
}
