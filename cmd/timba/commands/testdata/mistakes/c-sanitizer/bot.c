#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static char line[8192];
  int *volatile hand = malloc(4 * sizeof *hand);
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    if (!strncmp(line, "timba", 5)) puts("ready");
    if (!strncmp(line, "turn ", 5)) printf("move %d\n", hand[9]);
    if (!strncmp(line, "bye", 3)) return 0;
  }
}
