//===- thread_pool.cpp - workers for parallel loops -----------------------===//
//
// The library hands out tiles of the range and steals between workers, so the
// cut differs from run to run: bodies write disjoint results that do not depend
// on it.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/thread_pool.h"

#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>

namespace sol {
namespace {

/// Tiles for each worker: enough to even out a core that is busy elsewhere,
/// few enough that handing them out costs nothing.
constexpr int64_t tilesPerWorker = 4;

/// True while this thread is inside a loop: a nested loop runs in place, since
/// the workers that it would wait for are the ones that wait.
thread_local bool insideLoop = false;

using Body = absl::FunctionRef<void(int64_t, int64_t)>;

struct Loop {
  Body body;
};

void runTile(void *context, size_t begin, size_t size) {
  bool outer = insideLoop;
  insideLoop = true;
  static_cast<Loop *>(context)->body(static_cast<int64_t>(begin),
                                     static_cast<int64_t>(begin + size));
  insideLoop = outer;
}

class SpinningThreadPool final : public ThreadPool {
public:
  explicit SpinningThreadPool(int threads) {
    if (threads > 1)
      pool = pthreadpool_create(static_cast<size_t>(threads));
  }
  ~SpinningThreadPool() override { pthreadpool_destroy(pool); }

  int threadCount() const override {
    return pool ? static_cast<int>(pthreadpool_get_threads_count(pool)) : 1;
  }

  void parallelFor(int64_t count, int64_t grain, Body body) override {
    if (count <= 0)
      return;
    grain = std::max<int64_t>(grain, 1);
    if (!pool || insideLoop || count < 2 * grain) {
      body(0, count);
      return;
    }
    // Every tile but the last is `tile` long, and the last must reach `grain`.
    int64_t tiles = std::min(threadCount() * tilesPerWorker, count / grain);
    int64_t tile = (count + tiles - 1) / tiles;
    int64_t rest = count % tile;
    if (rest != 0 && rest < grain)
      tile = evenTile(count, tile, grain);
    Loop loop{body};
    pthreadpool_parallelize_1d_tile_1d(pool, runTile, &loop,
                                       static_cast<size_t>(count),
                                       static_cast<size_t>(tile), 0);
  }

private:
  /// A tile length >= `tile` whose last piece is whole or at least `grain`.
  static int64_t evenTile(int64_t count, int64_t tile, int64_t grain) {
    for (int64_t longer = tile; longer < count; ++longer) {
      int64_t rest = count % longer;
      if (rest == 0 || rest >= grain)
        return longer;
    }
    return count;
  }

  pthreadpool_t pool = nullptr;
};

int usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

} // namespace

std::unique_ptr<ThreadPool> ThreadPool::create(int threads) {
  return std::make_unique<SpinningThreadPool>(threads > 0 ? threads
                                                          : usableProcessors());
}

} // namespace sol
