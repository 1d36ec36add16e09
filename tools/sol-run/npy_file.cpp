//===- npy_file.cpp - tensors as NumPy writes them ------------------------===//
//
// `.npy` by the format's description (NumPy documentation, numpy.lib.format),
// for which Debian has no C++ library; `.npz` archives by libzip.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-run/tensor_value.h"

#include <cstring>
#include <memory>
#include <regex>
#include <zip.h>

namespace sol::run {
namespace {

struct TypeName {
  int32_t type;
  const char *name; ///< little-endian descr, without byte order for one byte
};
constexpr TypeName typeNames[] = {
    {1, "<f4"}, {11, "<f8"}, {10, "<f2"}, {7, "<i8"}, {6, "<i4"}, {5, "<i2"},
    {3, "|i1"}, {13, "<u8"}, {12, "<u4"}, {4, "<u2"}, {2, "|u1"}, {9, "|b1"}};

constexpr char magic[] = "\x93NUMPY";

TensorValue parseNpy(const std::string &name, const std::string &content) {
  auto malformed = [&](const std::string &what) {
    return Failure(name + ": is no .npy file that sol-run reads: " + what);
  };
  if (content.size() < 12 || std::memcmp(content.data(), magic, 6) != 0)
    throw malformed("it does not begin with \\x93NUMPY");
  bool isLong = content[6] >= 2;
  size_t headerBegin = isLong ? 12 : 10;
  auto byteAt = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(content[i]));
  };
  size_t headerBytes = byteAt(8) | byteAt(9) << 8;
  if (isLong)
    headerBytes |= byteAt(10) << 16 | byteAt(11) << 24;
  if (headerBytes > content.size() - headerBegin || headerBytes > 65536)
    throw malformed("its header is cut off");
  std::string header = content.substr(headerBegin, headerBytes);
  std::smatch match;
  TensorValue value;
  if (!std::regex_search(header, match, std::regex("'descr': *'([^']*)'")))
    throw malformed("its header has no simple `descr`");
  for (const TypeName &item : typeNames)
    if (match[1] == item.name)
      value.type = item.type;
  if (value.type == 0)
    throw malformed("element type `" + match[1].str() + "`");
  if (std::regex_search(header, std::regex("'fortran_order': *True")))
    throw malformed("it is in Fortran order; save numpy.ascontiguousarray");
  if (!std::regex_search(header, match,
                         std::regex("'shape': *\\(([0-9, ]*)\\)")))
    throw malformed("its header has no `shape`");
  std::string shape = match[1];
  std::regex number("[0-9]+");
  for (std::sregex_iterator it(shape.begin(), shape.end(), number), end;
       it != end; ++it) {
    if (it->str().size() > 18)
      throw malformed("size " + it->str());
    value.sizes.push_back(std::stoll(it->str()));
  }
  int64_t wanted = bytesFor(value.type, value.sizes);
  size_t begin = headerBegin + headerBytes;
  if (wanted < 0 || content.size() - begin != static_cast<size_t>(wanted))
    throw malformed("it holds " + std::to_string(content.size() - begin) +
                    " bytes of elements, its shape takes " +
                    std::to_string(wanted));
  value.bytes.assign(content.begin() + begin, content.end());
  return value;
}

} // namespace

TensorValue readNpy(const std::string &path) {
  return parseNpy(path, readFile(path));
}

std::vector<TensorValue> readNpz(const std::string &path) {
  int code = 0;
  std::unique_ptr<zip_t, void (*)(zip_t *)> archive(
      zip_open(path.c_str(), ZIP_RDONLY, &code), zip_discard);
  if (!archive)
    throw Failure(path + ": is no .npz archive");
  std::vector<TensorValue> values;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    zip_stat_t info;
    if (zip_stat_index(archive.get(), i, 0, &info) != 0)
      throw Failure(path + ": has an entry that cannot be read");
    std::string name = info.name, content;
    std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> file(
        zip_fopen_index(archive.get(), i, 0), zip_fclose);
    // Read piece by piece: the size that an archive states may be a lie.
    char piece[1 << 16];
    zip_int64_t got = -1;
    while (file && (got = zip_fread(file.get(), piece, sizeof(piece))) > 0)
      content.append(piece, static_cast<size_t>(got));
    if (got != 0)
      throw Failure(path + ": entry `" + name + "` cannot be read");
    TensorValue value = parseNpy(path + ":" + name, content);
    size_t dot = name.rfind(".npy");
    value.name = dot == std::string::npos ? name : name.substr(0, dot);
    values.push_back(std::move(value));
  }
  return values;
}

void writeNpy(const std::string &path, const sol_tensor &tensor) {
  const char *typeName = nullptr;
  for (const TypeName &item : typeNames)
    if (item.type == tensor.type)
      typeName = item.name;
  if (!typeName)
    throw Failure("output `" + std::string(tensor.name) +
                  "` has an element type that NumPy lacks; give the inputs as "
                  ".pb to get outputs as .pb");
  std::string header = std::string("{'descr': '") + typeName +
                       "', 'fortran_order': False, 'shape': (";
  for (int32_t i = 0; i < tensor.rank; ++i)
    header += std::to_string(tensor.sizes[i]) + ", ";
  header += "), }";
  // The data begins at a multiple of 64.
  while ((header.size() + 11) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string content(magic, 6);
  content += '\x01';
  content += '\x00';
  content += static_cast<char>(header.size() & 255);
  content += static_cast<char>(header.size() >> 8);
  content += header;
  content.append(static_cast<const char *>(tensor.data), tensor.bytes);
  writeFile(path, content);
}

} // namespace sol::run
