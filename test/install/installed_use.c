// A program of somebody who installed weft: says the version, and sees that the library and the headers
// are of the same one.
#include <weft/base.h>

#include <stdio.h>

int main(void)
{
    int major = -1;
    int minor = -1;
    if (sscanf(weft_version(), "%d.%d", &major, &minor) != 2 || major != WEFT_VERSION_MAJOR ||
        minor != WEFT_VERSION_MINOR) {
        (void)fprintf(stderr, "library says %s, headers say %d.%d\n", weft_version(),
                      WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR);
        return 1;
    }
    (void)printf("weft %s\n", weft_version());
    return 0;
}
