#include <iostream>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> words;
  std::cout << words << std::endl;
}
