//===- thread_pool.cpp - workers for parallel loops -----------------------===//
//
// Tiles of the range go to whoever is free, so the cut differs from run to run:
// bodies write disjoint results that do not depend on it.
//
// Written here because of one thing that pthreadpool and its like don't do: the
// caller waits for workers that have begun a tile, not for all workers. On a
// busy machine a worker may not run for milliseconds, and a program of a
// thousand loops a token would wait for it a thousand times
// (docs/decisions/0010).
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace sol {
namespace {

/// Tiles for each worker: enough to even out a core that is busy elsewhere,
/// few enough that handing them out costs nothing.
constexpr int64_t tilesPerWorker = 4;

/// Pauses before an idle worker sleeps: some 50 microseconds, longer than the
/// serial work between most loops of a program, shorter than a time slice.
constexpr int idlePauses = 2000;

/// True while this thread is inside a loop: a nested loop runs in place, since
/// the workers that it would wait for are the ones that wait.
thread_local bool insideLoop = false;

using Body = absl::FunctionRef<void(int64_t, int64_t)>;

void pauseThread() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// A loop's range, cut into tiles that whoever is free takes.
struct Loop {
  Body body;
  int64_t count, tile;
  std::atomic<int64_t> next{0};

  void run() {
    bool outer = insideLoop;
    insideLoop = true;
    for (;;) {
      int64_t begin = next.fetch_add(tile, std::memory_order_relaxed);
      if (begin >= count)
        break;
      body(begin, std::min(begin + tile, count));
    }
    insideLoop = outer;
  }
};

class TileThreadPool final : public ThreadPool {
public:
  explicit TileThreadPool(int threads) {
    for (int i = 1; i < threads; ++i)
      workers.emplace_back([this] { work(); });
  }
  ~TileThreadPool() override {
    stopping = true;
    epoch.fetch_add(1);
    epoch.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  int threadCount() const override {
    return static_cast<int>(workers.size()) + 1;
  }

  void parallelFor(int64_t count, int64_t grain, Body body) override {
    if (count <= 0)
      return;
    grain = std::max<int64_t>(grain, 1);
    if (workers.empty() || insideLoop || count < 2 * grain) {
      body(0, count);
      return;
    }
    // Every tile but the last is `tile` long, and the last must reach `grain`.
    int64_t tiles = std::min(threadCount() * tilesPerWorker, count / grain);
    int64_t tile = (count + tiles - 1) / tiles;
    int64_t rest = count % tile;
    if (rest != 0 && rest < grain)
      tile = evenTile(count, tile, grain);
    Loop loop{body, count, tile};
    share(loop);
  }

private:
  /// Runs the loop together with the workers that come in time. One that comes
  /// late finds the loop closed; only those inside are waited for.
  void share(Loop &loop) {
    current.store(&loop);
    epoch.fetch_add(1);
    if (sleeping.load() > 0)
      epoch.notify_all();
    loop.run();
    current.store(nullptr);
    for (int pauses = 0; inside.load() > 0; ++pauses)
      pauses < idlePauses ? pauseThread() : std::this_thread::yield();
  }

  void work() {
    uint32_t seen = 0;
    while (!stopping.load()) {
      seen = awaitChange(seen);
      // Entered before it is looked at: either this sees the loop closed or
      // `share` sees this thread inside.
      inside.fetch_add(1);
      if (Loop *loop = current.load())
        loop->run();
      inside.fetch_sub(1);
    }
  }

  uint32_t awaitChange(uint32_t seen) {
    for (int pauses = 0; pauses < idlePauses; ++pauses) {
      if (uint32_t now = epoch.load(); now != seen)
        return now;
      pauseThread();
    }
    sleeping.fetch_add(1);
    while (epoch.load() == seen && !stopping.load())
      epoch.wait(seen);
    sleeping.fetch_sub(1);
    return epoch.load();
  }

  /// A tile length >= `tile` whose last piece is whole or at least `grain`.
  static int64_t evenTile(int64_t count, int64_t tile, int64_t grain) {
    for (int64_t longer = tile; longer < count; ++longer) {
      int64_t rest = count % longer;
      if (rest == 0 || rest >= grain)
        return longer;
    }
    return count;
  }

  std::vector<std::thread> workers;
  std::atomic<Loop *> current{nullptr}; ///< null: closed
  std::atomic<uint32_t> epoch{0};       ///< changes with each loop
  std::atomic<int> inside{0}, sleeping{0};
  std::atomic<bool> stopping{false};
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
  return std::make_unique<TileThreadPool>(threads > 0 ? threads
                                                      : usableProcessors());
}

} // namespace sol
