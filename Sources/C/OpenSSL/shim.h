// OpenSSL 3, for SignedData. Stacks are macros in C, so Swift is given functions for those it needs.
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
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

/// Does not take the certificate over.
static inline int entitled_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
  return sk_X509_push(stack, certificate);
}

static inline int entitled_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }

static inline X509 *entitled_certificates_at(const STACK_OF(X509) *stack, int index) {
  return sk_X509_value(stack, index);
}

static inline void entitled_certificates_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

/// Frees the list and lets go of the certificates in it.
static inline void entitled_certificates_release(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int entitled_signers_count(CMS_ContentInfo *message) {
  STACK_OF(CMS_SignerInfo) *signers = CMS_get0_SignerInfos(message);
  return signers == NULL ? 0 : sk_CMS_SignerInfo_num(signers);
}

static inline CMS_SignerInfo *entitled_signers_first(CMS_ContentInfo *message) {
  return sk_CMS_SignerInfo_value(CMS_get0_SignerInfos(message), 0);
}

// OpenSSL 3 calls these two deprecated. Yet nothing else makes its fast multiplication use a table for a point of
// one's own, and nothing else gives a point without the division that its affine coordinates cost.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// Makes the table for the group's generator; returns 1 when that worked.
static inline int entitled_group_precompute(EC_GROUP *group) { return EC_GROUP_precompute_mult(group, NULL); }

/// The Jacobian coordinates of a point that are x and z: its affine x is theirs divided by the square of z.
static inline int entitled_point_coordinates(const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
  return EC_POINT_get_Jprojective_coordinates_GFp(group, point, x, NULL, z, context);
}

#pragma GCC diagnostic pop
