//===- NativeCode.cpp - the machine code of a plan ------------------------===//
//
// See NativeCode.h.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/NativeCode.h"

#include "lib/native/codegen/LinkImage.h"
#include "lib/native/codegen/LowerLoop.h"
#include "lib/native/codegen/MachineCode.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace sol::native {
namespace {

std::string symbolOf(size_t index) { return "loop" + std::to_string(index); }

/// Do the two compute the same on tensors of the same kinds?
bool areEqual(cpu::NativeOp a, cpu::NativeOp b) {
  return a.getName() == b.getName() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

} // namespace

FailureOr<int> NativeCode::add(cpu::NativeOp op) {
  for (auto [i, loop] : llvm::enumerate(compiled))
    if (areEqual(loop.op, op))
      return static_cast<int>(i);
  FailureOr<LoopNest> nest = LoopNest::of(op);
  if (failed(nest))
    return failure();
  compiled.push_back({op, std::move(*nest), 0, {}});
  return static_cast<int>(compiled.size()) - 1;
}

OwningOpRef<ModuleOp> NativeCode::lower(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  for (auto [i, loop] : llvm::enumerate(compiled))
    loop.scratchBytes = lowerLoop(loop.op, loop.nest, symbolOf(i), *module);
  return module;
}

LogicalResult NativeCode::compile(ModuleOp module) {
  if (compiled.empty())
    return success();
  if (levels.empty())
    return module.emitError("has compiled loops, but no instruction set is "
                            "chosen; name one with --native, or compile from "
                            "an earlier stage");
  registerMachineCodeDialects(*module.getContext());
  OwningOpRef<ModuleOp> lowered = lower(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = lowerToLlvm(*lowered, context);
  if (!code)
    return failure();
  for (const std::string &level : levels) {
    if (llvm::any_of(built, [&](const CompiledImage &image) {
          return image.level == level;
        }))
      continue;
    llvm::Expected<std::string> object = compileObject(*code, level);
    if (!object)
      return module.emitError("its loops can't be compiled for ")
             << level << ": " << llvm::toString(object.takeError());
    llvm::Expected<LinkedImage> image = linkImage(*object);
    if (!image)
      return module.emitError("the machine code for ")
             << level << " is unfit: " << llvm::toString(image.takeError());
    built.push_back({level, std::move(image->bytes)});
    for (auto [i, loop] : llvm::enumerate(compiled))
      loop.entries.push_back(image->entries.lookup(symbolOf(i)));
  }
  return success();
}

} // namespace sol::native
