#include "Bodies.h"

#include <stdexcept>

Bodies::Bodies(const std::string &path) {
  if (path.empty()) return;
  file_.open(path);
  if (!file_) throw std::runtime_error("cannot read " + path);
}

bool Bodies::next(std::string &body) { return static_cast<bool>(std::getline(file_, body)); }
