// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files for a test: a folder of its own that goes with it, and the kept files of the peers.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../support/folders.hpp"

namespace topos_test {

/// A new empty folder, removed with all that is in it.
class scratch {
 public:
  scratch() {
    std::string name = testing::TempDir() + "topos_io_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return folder_ / name;
  }

  /// The names in the folder.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& e : std::filesystem::directory_iterator(folder_)) {
      all.push_back(e.path().filename().string());
    }
    return all;
  }

 private:
  std::filesystem::path folder_;
};

inline void write_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::remove(path);  // some file systems flush to disk what replaces content
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file that scripts/reference/io.py made.
inline std::filesystem::path peer_file(std::string_view name) {
  return support::data_folder() / "io" / name;
}

/// Whether a message has all of these parts.
inline testing::AssertionResult says(std::string_view message,
                                     std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (message.find(part) == message.npos) {
      return testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
    }
  }
  return testing::AssertionSuccess();
}

/// The message of the error of type E that `call` throws; fails the test if it throws none.
template <class E, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace topos_test
