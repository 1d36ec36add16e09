//===- MachineCode.cpp - from functions in MLIR to an object file ---------===//
//
// See MachineCode.h. Floating-point operations stay as they are: nothing is
// contracted or reassociated, so every level gives the same bits.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/MachineCode.h"

#include "lib/native/codegen/ExpandMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace sol::native {
namespace {

constexpr llvm::StringLiteral triple = "x86_64-unknown-linux-gnu";

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeMachine(StringRef level) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  if (!llvm::is_contained({"x86-64", "x86-64-v2", "x86-64-v3"}, level))
    return llvm::createStringError("there is no code generation for level `" +
                                   level.str() +
                                   "`; choose x86-64, x86-64-v2 or x86-64-v3");
  std::string reason;
  llvm::Triple host(triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(host, reason);
  if (!target)
    return llvm::createStringError(reason);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      host, level, /*Features=*/"", options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  // The loops are vectors already.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

} // namespace

void registerMachineCodeDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                      scf::SCFDialect, vector::VectorDialect>();
}

std::unique_ptr<llvm::Module> lowerToLlvm(ModuleOp module,
                                          llvm::LLVMContext &context) {
  expandMath(module);
  PassManager passes(module.getContext());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(module)))
    return nullptr;
  return translateModuleToLLVMIR(module, context);
}

llvm::Expected<std::string> compileObject(const llvm::Module &source,
                                          StringRef level) {
  auto machine = makeMachine(level);
  if (!machine)
    return machine.takeError();
  std::unique_ptr<llvm::Module> module = llvm::CloneModule(source);
  module->setTargetTriple(llvm::Triple(triple));
  module->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : *module) {
    if (function.isDeclaration())
      continue;
    // Without this, loops that copy or fill would become calls of memcpy.
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", level);
  }
  optimize(*module, **machine);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emitter;
  if ((*machine)->addPassesToEmitFile(emitter, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("no object files for " + level.str());
  emitter.run(*module);
  return std::string(object);
}

} // namespace sol::native
