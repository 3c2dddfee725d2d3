#include <iostream>
#include <sstream>
#include <string>
#include <vector>

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words[0] == "timba") std::cout << "ready" << std::endl;
    else if (words[0] == "turn") std::cout << "move " << words.at(words.size()) << std::endl;
    else if (words[0] == "bye") return 0;
  }
}
