//===- LinkImage.cpp - from an object file to an image for the plan -------===//
//
// See LinkImage.h. The object is checked before it is linked, as a linker would
// hide a fault: it resolves an absolute address to one that is right only at
// the place where it linked.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/LinkImage.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace sol::native {
namespace {

using Elf = object::ELF64LEObjectFile;

Expected<std::unique_ptr<Elf>> parse(StringRef bytes) {
  auto file = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(bytes, "machine code"));
  if (!file)
    return file.takeError();
  if (!isa<Elf>(**file))
    return createStringError("is no little-endian 64-bit ELF file");
  return std::unique_ptr<Elf>(cast<Elf>(file->release()));
}

/// Relations between two places of the image alone.
bool isRelative(uint64_t relocation) {
  return relocation == ELF::R_X86_64_PC32 ||
         relocation == ELF::R_X86_64_PLT32 || relocation == ELF::R_X86_64_PC64;
}

Error checkObject(const Elf &object) {
  for (const object::ELFSectionRef section : object.sections()) {
    Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if ((section.getFlags() & ELF::SHF_ALLOC) &&
        (section.getFlags() & ELF::SHF_WRITE) && section.getSize() > 0)
      return createStringError("section `" + name->str() + "` is writable");
    Expected<object::section_iterator> target = section.getRelocatedSection();
    if (!target)
      return target.takeError();
    if (*target == object.section_end() ||
        !(object::ELFSectionRef(**target).getFlags() & ELF::SHF_ALLOC))
      continue;
    for (const object::RelocationRef &relocation : section.relocations())
      if (!isRelative(relocation.getType()))
        return createStringError("section `" + name->str() +
                                 "` has a relocation of type " +
                                 Twine(relocation.getType()) +
                                 ", which depends on the place in memory");
  }
  for (const object::ELFSymbolRef symbol : object.symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    if ((*flags & object::BasicSymbolRef::SF_Undefined) && !name->empty())
      return createStringError("imports `" + name->str() + "`");
  }
  return Error::success();
}

/// Runs the linker on a file; files lie in a folder of their own meanwhile.
Expected<std::string> runLinker(StringRef object) {
  SmallString<128> folder, input, output;
  if (std::error_code failed =
          sys::fs::createUniqueDirectory("sol-link", folder))
    return createStringError(failed, "cannot make a temporary folder: " +
                                         failed.message());
  scope_exit cleanUp([&] { sys::fs::remove_directories(folder); });
  input = folder;
  sys::path::append(input, "loops.o");
  output = folder;
  sys::path::append(output, "loops");
  std::error_code failed;
  {
    raw_fd_ostream file(input, failed);
    file << object;
    if (failed || file.has_error())
      return createStringError("cannot write " + input.str().str());
  }
  std::string input8 = input.str().str(), output8 = output.str().str();
  // One segment, read-only and executable, at address 0.
  const char *arguments[] = {
      "ld.lld",         "-o",        output8.c_str(),  input8.c_str(),
      "--image-base=0", "--entry=0", "--no-rosegment", "--threads=1"};
  std::string messages;
  raw_string_ostream text(messages);
  lld::Result result =
      lld::lldMain(arguments, text, text, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("cannot be linked: " + messages);
  auto linked = MemoryBuffer::getFile(output);
  if (!linked)
    return createStringError(linked.getError(), "cannot read " + output8);
  return (*linked)->getBuffer().str();
}

/// The loaded bytes: exactly one segment, not writable, from address 0.
Expected<std::string> imageOf(const Elf &linked, StringRef bytes) {
  auto headers = linked.getELFFile().program_headers();
  if (!headers)
    return headers.takeError();
  std::string image;
  for (const auto &header : *headers) {
    if (header.p_type == ELF::PT_DYNAMIC || header.p_type == ELF::PT_INTERP)
      return createStringError("asks for a dynamic linker");
    if (header.p_type != ELF::PT_LOAD)
      continue;
    if ((header.p_flags & ELF::PF_W) || !image.empty() || header.p_vaddr != 0 ||
        header.p_filesz != header.p_memsz)
      return createStringError("is not one read-only segment");
    image = bytes.substr(header.p_offset, header.p_filesz).str();
  }
  if (image.empty())
    return createStringError("holds no code");
  return image;
}

} // namespace

Expected<LinkedImage> linkImage(StringRef object) {
  Expected<std::unique_ptr<Elf>> parsed = parse(object);
  if (!parsed)
    return parsed.takeError();
  if (Error unfit = checkObject(**parsed))
    return std::move(unfit);
  Expected<std::string> bytes = runLinker(object);
  if (!bytes)
    return bytes.takeError();
  Expected<std::unique_ptr<Elf>> linked = parse(*bytes);
  if (!linked)
    return linked.takeError();
  LinkedImage result;
  Expected<std::string> image = imageOf(**linked, *bytes);
  if (!image)
    return image.takeError();
  result.bytes = std::move(*image);
  for (const object::ELFSymbolRef symbol : (*linked)->symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint64_t> address = symbol.getAddress();
    if (!name || !address)
      return joinErrors(name.takeError(), address.takeError());
    if (symbol.getELFType() == ELF::STT_FUNC)
      result.entries[*name] = *address;
  }
  return result;
}

} // namespace sol::native
