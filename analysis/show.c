#include "analysis/show.h"

json_t *show_encoding(const struct bitcut_format *f, uint64_t encoding)
{
    const double x = format_to_double(f, encoding);
    return json_sprintf("0x%0*llx = %a = %.9g", (f->bits + 3) / 4,
                        (unsigned long long)encoding, x, x);
}
