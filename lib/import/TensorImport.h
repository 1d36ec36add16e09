//===- TensorImport.h - tensors of the model file as constants ------------===//
//
// Turns a TensorProto into a constant in the IR (small) or a reference to its
// bytes (large), wherever those are: in the model file, raw or typed, or in a
// file beside it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_TENSORIMPORT_H
#define SOL_LIB_IMPORT_TENSORIMPORT_H

#include "lib/import/WireScan.h"
#include "lib/support/ModelFiles.h"

#include "lib/import/onnx.pb.h"

#include "mlir/IR/Builders.h"

namespace sol {

/// Reads the tensors of one model.
class TensorImporter {
public:
  /// `payloads` are those of the model file's skeleton; `weightless` allows
  /// files of external data to be absent.
  TensorImporter(ModelFiles &files, llvm::ArrayRef<PayloadSpan> payloads,
                 bool weightless, mlir::MLIRContext *context)
      : files(files), payloads(payloads), weightless(weightless),
        context(context) {}

  /// Emits `nn.constant` (at most 1 KiB) or `nn.weight` for the tensor.
  mlir::FailureOr<mlir::Value> import(const ::onnx::TensorProto &tensor,
                                      llvm::StringRef name,
                                      mlir::OpBuilder &builder,
                                      mlir::Location location, EmitError error);

  /// The tensor as an attribute; it must not be larger than 1 KiB.
  mlir::FailureOr<mlir::DenseElementsAttr>
  elements(const ::onnx::TensorProto &tensor, EmitError error);

  /// Tensors up to this size, in bytes, are constants in the IR.
  static constexpr int64_t largestConstant = 1024;

private:
  /// A tensor's type and where its bytes are; no span means no bytes.
  struct Source {
    mlir::RankedTensorType type;
    nn::SpanAttr span;
    bool isAbsent = false;
  };
  mlir::FailureOr<mlir::RankedTensorType>
  typeOf(const ::onnx::TensorProto &tensor, EmitError error);
  mlir::FailureOr<Source> locate(const ::onnx::TensorProto &tensor,
                                 EmitError error);
  mlir::FailureOr<Source> locateExternal(const ::onnx::TensorProto &tensor,
                                         Source source, int64_t size,
                                         EmitError error);
  mlir::FailureOr<mlir::DenseElementsAttr> readElements(const Source &source,
                                                        EmitError error);

  ModelFiles &files;
  llvm::ArrayRef<PayloadSpan> payloads;
  bool weightless;
  mlir::MLIRContext *context;
};

} // namespace sol

#endif // SOL_LIB_IMPORT_TENSORIMPORT_H
