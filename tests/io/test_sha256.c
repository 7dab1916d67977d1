/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 for the examples of FIPS 180-4 and for a million letters. */
#include "lib/io/sha256.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

START_TEST(published)
{
    static const struct {
        const char *text, *digest;
    } examples[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    char digest[SHA256_TEXT];
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        sha256_of(digest, examples[i].text, strlen(examples[i].text));
        ck_assert_str_eq(digest, examples[i].digest);
    }
}
END_TEST

START_TEST(a_million)
{
    enum { SIZE = 1000000 };
    char digest[SHA256_TEXT], *text = malloc(SIZE);
    ck_assert_ptr_nonnull(text);
    memset(text, 'a', SIZE);
    sha256_of(digest, text, SIZE);
    ck_assert_str_eq(digest,
                     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}
END_TEST

TEST_MAIN("sha256", published, a_million)
