/* Whether this is the build with sanitizers. It is slow, and the release tests all numbers: tests
 * that only repeat code with other numbers may leave some out there. */
#ifndef TEST_SUPPORT_SANITIZED_H
#define TEST_SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
