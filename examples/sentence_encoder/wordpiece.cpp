// SPDX-License-Identifier: Apache-2.0
// The tokenizer of uncased BERT models: text to the ids of its WordPiece tokens.
#include "wordpiece.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "unicode.hpp"

namespace sentence_encoder {
namespace {

constexpr std::size_t longest_word = 4 * word_reader::max_characters;
constexpr std::int32_t absent = -1;

// FNV-1a, 64 bits: the hash of every beginning of a word comes for free with that of the word.
constexpr std::uint64_t seed(bool inside) {
  return inside ? 0x9e3779b97f4a7c15u : 0xcbf29ce484222325u;
}
constexpr std::uint64_t extend(std::uint64_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
}
constexpr std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32);
}
constexpr std::size_t place_of(std::uint64_t hash) {
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw std::runtime_error("vocabulary '" + file.string() + "' " + reason);
}

std::string read_file(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 1 << 14> part;
  while (in) {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  // A folder opens, and only reading it fails.
  if (!in.is_open() || in.bad()) {
    fail(file, "cannot be read: " + std::generic_category().message(errno != 0 ? errno : EIO));
  }
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
    fail(file, "is larger than 4 GiB");
  }
  return text;
}

}  // namespace

wordpiece::wordpiece(const std::filesystem::path& vocabulary, std::size_t max_tokens)
    : text_(read_file(vocabulary)),
      max_tokens_(std::min<std::size_t>(max_tokens, std::numeric_limits<std::int32_t>::max())) {
  if (max_tokens < 2) {
    throw std::invalid_argument("wordpiece: max_tokens is " + std::to_string(max_tokens) +
                                ", but [CLS] and [SEP] alone take 2");
  }
  const auto lines = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1;
  entries_.resize(std::bit_ceil(2 * lines), entry{0, 0, absent, 0, position::start});

  constexpr std::string_view prefix = "##";
  std::string_view rest = text_;
  for (std::int32_t id = 0; !rest.empty(); ++id) {
    std::string_view token = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(token.size() + 1, rest.size()));
    if (token.ends_with('\r')) token.remove_suffix(1);
    if (!token.empty()) size_ = id + 1;
    if (token.starts_with(prefix)) {
      insert(position::inside, token.substr(prefix.size()), id);
    } else {
      insert(position::start, token, id);
    }
  }

  constexpr std::array<std::string_view, 5> names = {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"};
  std::string missing;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int32_t id = id_of(names[i]);
    if (id != absent) {
      specials_.push_back({names[i], id});
    } else if (i < 3) {
      missing += (missing.empty() ? "" : ", ") + std::string(names[i]);
    }
  }
  if (!missing.empty()) fail(vocabulary, "lacks the token(s) " + missing);
  unknown_ = id_of(names[0]);
  begin_ = id_of(names[1]);
  end_ = id_of(names[2]);
}

void wordpiece::insert(position where, std::string_view piece, std::int32_t id) {
  // The reader never makes a longer word, so a longer piece could not match.
  if (piece.empty() || piece.size() > longest_word) return;
  std::uint64_t hash = seed(where == position::inside);
  for (const char byte : piece) hash = extend(hash, byte);
  const auto offset = static_cast<std::uint32_t>(piece.data() - text_.data());
  const auto length = static_cast<std::uint16_t>(piece.size());
  if (const entry* known = find(hash, where, piece)) {
    entries_[static_cast<std::size_t>(known - entries_.data())].id = id;
    return;
  }
  const std::size_t mask = entries_.size() - 1;
  std::size_t place = place_of(hash) & mask;
  while (entries_[place].length != 0) place = (place + 1) & mask;
  entries_[place] = {tag_of(hash), offset, id, length, where};
  longest_ = std::max(longest_, piece.size());
}

const wordpiece::entry* wordpiece::find(std::uint64_t hash, position where,
                                        std::string_view piece) const {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t place = place_of(hash) & mask;; place = (place + 1) & mask) {
    const entry& candidate = entries_[place];
    if (candidate.length == 0) return nullptr;
    if (candidate.tag == tag_of(hash) && candidate.where == where &&
        candidate.length == piece.size() &&
        std::string_view(text_).substr(candidate.offset, candidate.length) == piece) {
      return &candidate;
    }
  }
}

std::int32_t wordpiece::id_of(std::string_view token) const {
  std::uint64_t hash = seed(false);
  for (const char byte : token) hash = extend(hash, byte);
  const entry* found = find(hash, position::start, token);
  return found != nullptr ? found->id : absent;
}

void wordpiece::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  ids.push_back(begin_);
  const std::size_t limit = ids.size() + max_tokens_ - 2;
  // Special tokens are found in the raw text, and what stands between them is read on its own.
  for (std::size_t from = 0; ids.size() < limit;) {
    from = text.find('[', from);
    if (from == std::string_view::npos) break;
    const auto found = std::find_if(specials_.begin(), specials_.end(), [&](const auto& candidate) {
      return text.substr(from).starts_with(candidate.text);
    });
    if (found == specials_.end()) {
      ++from;
      continue;
    }
    encode_words(text.substr(0, from), limit, ids);
    if (ids.size() < limit) ids.push_back(found->id);
    text.remove_prefix(from + found->text.size());
    from = 0;
  }
  encode_words(text, limit, ids);
  ids.push_back(end_);
}

std::vector<std::int32_t> wordpiece::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  encode(text, ids);
  return ids;
}

void wordpiece::encode_words(std::string_view text, std::size_t limit,
                             std::vector<std::int32_t>& ids) const {
  word_reader reader(text);
  word next;
  while (ids.size() < limit && reader.next(next)) {
    if (next.too_long) {
      ids.push_back(unknown_);
    } else {
      encode_word(next.text, ids);
    }
  }
  if (ids.size() > limit) ids.resize(limit);
}

void wordpiece::encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t first = ids.size();
  std::array<std::uint64_t, longest_word> hashes;  // of the beginnings of what is left of the word
  position where = position::start;
  while (!word.empty()) {
    const std::size_t reach = std::min(word.size(), longest_);
    std::uint64_t hash = seed(where == position::inside);
    for (std::size_t i = 0; i < reach; ++i) hashes[i] = hash = extend(hash, word[i]);
    const entry* longest = nullptr;
    for (std::size_t length = reach; length != 0 && longest == nullptr; --length) {
      longest = find(hashes[length - 1], where, word.substr(0, length));
    }
    if (longest == nullptr) {
      ids.resize(first);
      ids.push_back(unknown_);
      return;
    }
    ids.push_back(longest->id);
    word.remove_prefix(longest->length);
    where = position::inside;
  }
}

}  // namespace sentence_encoder
