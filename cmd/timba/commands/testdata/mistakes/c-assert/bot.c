#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static char line[8192];
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    if (!strncmp(line, "timba", 5)) puts("ready");
    assert(strncmp(line, "turn ", 5));
    if (!strncmp(line, "bye", 3)) return 0;
  }
}
