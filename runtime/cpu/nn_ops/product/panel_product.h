//===- panel_product.h - products whose panels are made on demand ---------===//
//
// The loop over batches, panels of columns and rows that all products share.
// The right operand never exists as a whole in float: a callback fills a panel
// of sixteen columns (converting, transposing or dequantizing), the tile
// multiplies it with all rows, a second callback takes the sums.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_PRODUCT_PANEL_PRODUCT_H
#define SOL_RUNTIME_CPU_NN_OPS_PRODUCT_PANEL_PRODUCT_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/nn_ops/product/tile.h"

#include <algorithm>

namespace sol::nn {

/// One product for each batch: [rows x depth] times [depth x columns].
template <typename T> struct PanelProduct {
  int64_t batches, rows, columns, depth;
  /// Row-major rows of a batch's left operand, `depth` elements each.
  absl::FunctionRef<const T *(int64_t batch)> left;
  /// Writes panel[k * 16 + c] for columns column..column+count-1; the rest of
  /// each sixteen must be zero.
  absl::FunctionRef<void(int64_t batch, int64_t column, int64_t count,
                         T *panel)>
      fill;
  /// Takes the sums of `count` columns of one row. Called from any worker, once
  /// for each place.
  absl::FunctionRef<void(int64_t batch, int64_t row, int64_t column,
                         int64_t count, const T *sums)>
      store;
};

/// Rows whose sums are kept at a time.
inline constexpr int64_t rowsAtATime = 64;

/// Pieces that a product is cut into, each with a workspace of its own.
inline int64_t productPieces(int threads, int64_t panels) {
  return std::max<int64_t>(1, std::min<int64_t>(panels, 4 * int64_t(threads)));
}

/// Elements of workspace that `runPanelProduct` needs: a panel and a block of
/// sums for each piece.
inline int64_t productWorkspace(int threads, int64_t batches, int64_t columns,
                                int64_t depth) {
  int64_t panels = batches * ((columns + panelWidth - 1) / panelWidth);
  return productPieces(threads, panels) * panelWidth * (depth + rowsAtATime);
}

/// Runs the product on all workers. `workspace` holds `productWorkspace`
/// elements.
template <typename T>
void runPanelProduct(KernelContext &context, const PanelProduct<T> &product,
                     T *workspace) {
  int64_t perBatch = (product.columns + panelWidth - 1) / panelWidth;
  int64_t panels = product.batches * perBatch;
  if (panels <= 0 || product.rows <= 0)
    return;
  int64_t pieces = productPieces(context.threadCount(), panels);
  int64_t stride = panelWidth * (product.depth + rowsAtATime);
  auto work = [&](int64_t first, int64_t last) {
    for (int64_t piece = first; piece < last; ++piece) {
      T *panel = workspace + piece * stride;
      T *sums = panel + panelWidth * product.depth;
      for (int64_t p = panels * piece / pieces,
                   end = panels * (piece + 1) / pieces;
           p < end; ++p) {
        int64_t batch = p / perBatch, column = p % perBatch * panelWidth;
        int64_t count = std::min(panelWidth, product.columns - column);
        const T *left = product.left(batch);
        product.fill(batch, column, count, panel);
        for (int64_t row = 0; row < product.rows; row += rowsAtATime) {
          int64_t rows = std::min(rowsAtATime, product.rows - row);
          multiplyTile(rows, product.depth, left + row * product.depth,
                       product.depth, panel, panelWidth, sums);
          for (int64_t r = 0; r < rows; ++r)
            product.store(batch, row + r, column, count, sums + r * panelWidth);
        }
      }
    }
  };
  // Waking workers costs more than a small product.
  if (product.batches * product.rows * product.columns * product.depth < 20000)
    work(0, pieces);
  else
    context.parallelFor(pieces, 1, work);
}

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_PRODUCT_PANEL_PRODUCT_H
