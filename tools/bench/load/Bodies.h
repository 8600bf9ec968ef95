// The bodies to post, in order.
#pragma once

#include <fstream>
#include <string>

class Bodies {
 public:
  // The lines of a file, read on demand; none without a path. Throws std::runtime_error if the file is
  // unreadable.
  explicit Bodies(const std::string &path);

  // Stores the next body in `body`; returns false at the end.
  bool next(std::string &body);

 private:
  std::ifstream file_;
};
