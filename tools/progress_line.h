//===- progress_line.h - one line that says how far a tool is -------------===//
//
// Keeps one line of a terminal up to date with what goes on, and takes it away
// at the end. Nothing is shown within the first second: most things are done by
// then.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TOOLS_PROGRESS_LINE_H
#define SOL_TOOLS_PROGRESS_LINE_H

#include <chrono>
#include <iostream>
#include <string>
#include <unistd.h>

namespace sol {

/// A line on standard error, if that is a terminal.
class ProgressLine {
public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine() { clear(); }

  /// Replaces the line, at most ten times a second.
  void show(const std::string &text) {
    auto now = std::chrono::steady_clock::now();
    if (!isTerminal || now - start < std::chrono::seconds(1) ||
        now - last < std::chrono::milliseconds(100))
      return;
    last = now;
    isShown = true;
    std::cerr << '\r' << text << "\x1b[K" << std::flush;
  }

  void clear() {
    if (isShown)
      std::cerr << "\r\x1b[K" << std::flush;
    isShown = false;
  }

private:
  bool isTerminal = isatty(STDERR_FILENO) == 1, isShown = false;
  std::chrono::steady_clock::time_point start =
                                            std::chrono::steady_clock::now(),
                                        last;
};

} // namespace sol

#endif // SOL_TOOLS_PROGRESS_LINE_H
