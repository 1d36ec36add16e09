//===- PrintDiagnostics.cpp - diagnostics as a user reads them ------------===//
//
// See PrintDiagnostics.h.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/PrintDiagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sol {
namespace {

StringRef severityText(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error: ";
  case DiagnosticSeverity::Warning:
    return "warning: ";
  case DiagnosticSeverity::Remark:
    return "remark: ";
  case DiagnosticSeverity::Note:
    break;
  }
  return "note: ";
}

void printDiagnostic(const Diagnostic &diagnostic) {
  llvm::errs() << severityText(diagnostic.getSeverity());
  std::string text = diagnostic.str();
  if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>()) {
    // Many texts name their node themselves.
    std::string quoted = "`" + name.getName().str() + "`";
    if (!StringRef(text).contains(quoted))
      llvm::errs() << "node " << quoted << ": ";
  } else if (auto file =
                 diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    llvm::errs() << file.getFilename().getValue() << ":" << file.getLine()
                 << ":" << file.getColumn() << ": ";
  }
  llvm::errs() << text << "\n";
  for (const Diagnostic &note : diagnostic.getNotes())
    // The whole operation is of no use to who wrote ONNX, not IR.
    if (!StringRef(note.str()).starts_with("see current operation"))
      printDiagnostic(note);
}

} // namespace

PrintDiagnostics::PrintDiagnostics(MLIRContext &context, bool remarks)
    : context(context) {
  context.printOpOnDiagnostic(false);
  handler = context.getDiagEngine().registerHandler(
      [remarks](Diagnostic &diagnostic) {
        if (remarks || diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          printDiagnostic(diagnostic);
      });
}

PrintDiagnostics::~PrintDiagnostics() {
  context.getDiagEngine().eraseHandler(handler);
}

} // namespace sol
