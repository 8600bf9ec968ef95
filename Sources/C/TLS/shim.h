// TLS of OpenSSL 3, for the target TLS. Swift cannot call C macros, so functions wrap those.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/// The settings of servers and clients. No version before TLS 1.2; for that version only the AEAD suites that App
/// Transport Security accepts (those of TLS 1.3 cannot be selected). No renegotiation and no compression, which only
/// serve attackers. Sessions resume from tickets alone, so that the server keeps nothing for them, and an idle connection
/// keeps no buffers. A server sends the certificates of its file alone, and adds none that it trusts.
static inline SSL_CTX *entitled_tls_context_new(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_method());
  if (context == NULL) return NULL;
  static const unsigned char name[] = "entitled";
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
      SSL_CTX_set_session_id_context(context, name, sizeof name - 1) == 1 &&
      SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:"
                                       "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384:"
                                       "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305") == 1)
    return context;
  SSL_CTX_free(context);
  return NULL;
}

/// Whether a session may resume: only one without a client's certificate. OpenSSL does not verify a certificate again
/// when a session resumes, so an expired one would still be accepted.
static inline SSL_TICKET_RETURN entitled_tls_resume(SSL *tls, SSL_SESSION *session, const unsigned char *key_name,
                                                    size_t key_name_length, SSL_TICKET_STATUS status, void *argument) {
  if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) return SSL_TICKET_RETURN_IGNORE_RENEW;
  if (SSL_SESSION_get0_peer(session) != NULL) return SSL_TICKET_RETURN_IGNORE_RENEW;
  return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

static inline int entitled_tls_verify_on_each_connection(SSL_CTX *context) {
  return SSL_CTX_set_session_ticket_cb(context, NULL, entitled_tls_resume, NULL);
}

/// The protocols of both sides for ALPN (RFC 7301), preferred first, each behind its length.
static const unsigned char entitled_tls_protocols[] = "\x02h2\x08http/1.1";

/// Selects the server's first protocol that the client offers. Without one in common, ALPN is left out.
static inline int entitled_tls_select(SSL *tls, const unsigned char **selected, unsigned char *length,
                                      const unsigned char *offered, unsigned int offered_length, void *argument) {
  int result = SSL_select_next_proto((unsigned char **)selected, length, entitled_tls_protocols,
                                     sizeof entitled_tls_protocols - 1, offered, offered_length);
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static inline void entitled_tls_select_protocol(SSL_CTX *context) {
  SSL_CTX_set_alpn_select_cb(context, entitled_tls_select, NULL);
}

/// Offers HTTP/2 alone, as a client.
static inline int entitled_tls_offer_http2(SSL_CTX *context) {
  return SSL_CTX_set_alpn_protos(context, entitled_tls_protocols, 3) == 0;
}

/// Does not take ownership of the certificate.
static inline int entitled_tls_add_intermediate(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline int entitled_tls_set_server_name(SSL *tls, const char *name) {
  return SSL_set_tlsext_host_name(tls, name) == 1;
}

static inline int entitled_tls_chain_count(const SSL *tls) {
  STACK_OF(X509) *chain = SSL_get_peer_cert_chain(tls);
  return chain == NULL ? 0 : sk_X509_num(chain);
}

static inline X509 *entitled_tls_chain_at(const SSL *tls, int index) {
  return sk_X509_value(SSL_get_peer_cert_chain(tls), index);
}

/// Releases bytes that OpenSSL allocated.
static inline void entitled_tls_free(void *bytes) { OPENSSL_free(bytes); }

/// The subject's alternative names, to be released with `GENERAL_NAMES_free`.
static inline GENERAL_NAMES *entitled_tls_names(const X509 *certificate) {
  return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int entitled_tls_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

/// The text of a DNS name, URI or mail address; NULL for another kind.
static inline const ASN1_STRING *entitled_tls_name_at(const GENERAL_NAMES *names, int index) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  return name->type == GEN_DNS || name->type == GEN_URI || name->type == GEN_EMAIL ? name->d.ia5 : NULL;
}

/// Refuses to decrypt: OpenSSL would ask for the passphrase at the terminal.
static inline int entitled_tls_no_passphrase(char *buffer, int size, int is_writing, void *argument) { return -1; }

/// The next certificate.
static inline X509 *entitled_tls_read_certificate(BIO *input) {
  return PEM_read_bio_X509(input, NULL, entitled_tls_no_passphrase, NULL);
}

/// The next private key without a passphrase.
static inline EVP_PKEY *entitled_tls_read_key(BIO *input) {
  return PEM_read_bio_PrivateKey(input, NULL, entitled_tls_no_passphrase, NULL);
}
