/** Memory for answers of a library that may have another struct layout. */
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace meshwright {

/**
 * Room for the answer of a call. A library with a longer struct writes into the spare bytes. A field that the library
 * does not write keeps a value that is impossible in every field that is checked; zero could be taken for an answer.
 */
template <typename Answer>
class Room {
 public:
  Room() { bytes_.fill(unwritten); }
  Answer* pointer() { return reinterpret_cast<Answer*>(bytes_.data()); }
  [[nodiscard]] bool is_written() const {
    return std::any_of(bytes_.begin(), bytes_.begin() + sizeof(Answer), [](auto byte) { return byte != unwritten; });
  }
  [[nodiscard]] Answer answer() const {
    Answer copy;
    std::memcpy(&copy, bytes_.data(), sizeof copy);
    return copy;
  }

 private:
  static_assert(std::is_trivially_copyable_v<Answer>);
  static constexpr unsigned char unwritten = 0xa5;
  alignas(Answer) std::array<unsigned char, sizeof(Answer) + 1024> bytes_;
};

}  // namespace meshwright
