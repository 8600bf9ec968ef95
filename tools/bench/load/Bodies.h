// What is posted, one body after the other.
#pragma once

#include <fstream>
#include <string>

class Bodies {
 public:
  // The lines of a file, which is read as they are needed; none without a path. Throws std::runtime_error
  // if it cannot be read.
  explicit Bodies(const std::string &path);

  // Puts the next body into `body`; false if there is none.
  bool next(std::string &body);

 private:
  std::ifstream file_;
};
