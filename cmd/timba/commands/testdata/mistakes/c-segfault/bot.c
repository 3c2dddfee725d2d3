#include <stdio.h>
#include <string.h>

int main(void) {
  static char line[8192];
  char *volatile hand = NULL;
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    if (!strncmp(line, "timba", 5)) puts("ready");
    if (!strncmp(line, "turn ", 5)) printf("move %c\n", *hand);
    if (!strncmp(line, "bye", 3)) return 0;
  }
}
