//===- WireScan.h - splits a model file into structure and payloads -------===//
//
// Protobuf's generated classes copy every payload and stop at 2 GiB. So the
// file is first walked in its wire format: payloads of tensors become spans,
// and a small copy of everything else is what the classes parse.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_WIRESCAN_H
#define SOL_LIB_IMPORT_WIRESCAN_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sol {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Where a tensor's elements lie in the model file: its raw_data, or, if
/// `isProto`, the whole TensorProto, which holds them in typed fields.
struct PayloadSpan {
  uint64_t offset = 0;
  uint64_t length = 0;
  bool isProto = false;
};

/// A serialized ModelProto without payloads: raw_data of each TensorProto that
/// has one holds the index of its span in `payloads`, 8 bytes, little-endian.
/// Documentation, metadata of nodes and training information are left out.
struct ModelSkeleton {
  std::string bytes;
  std::vector<PayloadSpan> payloads;
};

/// Splits the contents of a model file. Fails, saying what the file looks like,
/// if it is no whole protobuf message of that shape.
mlir::FailureOr<ModelSkeleton> scanModel(llvm::StringRef file, EmitError error);

/// What a file that is no model seems to be, as the end of the sentence "the
/// file …", with advice; empty if unknown.
std::string describeWrongFile(llvm::StringRef file);

/// Index that a skeleton's raw_data holds; none if it is no such index.
std::optional<uint64_t> payloadIndex(const std::string &rawData);

} // namespace sol

#endif // SOL_LIB_IMPORT_WIRESCAN_H
