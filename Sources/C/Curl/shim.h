#include <curl/curl.h>

// libcurl's flags are macros, which Swift cannot import.
static const long entitled_curl_global_default = CURL_GLOBAL_DEFAULT;

// libcurl's options are variadic functions, which Swift cannot import. Each of these has the type of its options.

typedef size_t (*entitled_curl_receiver)(char *bytes, size_t size, size_t count, void *transfer);

static inline CURLcode entitled_curl_set_number(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode entitled_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode entitled_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode entitled_curl_set_receiver(CURL *easy, CURLoption option, entitled_curl_receiver receiver) {
  return curl_easy_setopt(easy, option, receiver);
}

static inline CURLMcode entitled_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline long entitled_curl_number(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}
