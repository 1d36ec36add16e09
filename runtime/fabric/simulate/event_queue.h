//===- event_queue.h - events in the order of time -----------------------===//
//
// A wheel of the cycles ahead, and a heap for what is farther away. At one
// time events go by kind, and by the order in which they were made.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_EVENT_QUEUE_H
#define SOL_RUNTIME_FABRIC_SIMULATE_EVENT_QUEUE_H

#include <array>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace sol::fabric {

/// In the order in which events of one time happen: words arrive before anybody
/// chooses among them.
enum class EventKind : uint8_t {
  Deliver, ///< a word reaches a core
  Arrive,  ///< a word reaches a router
  Core,    ///< a core may go on
  Link     ///< a link may take a word
};

struct Event {
  int32_t pe = 0;
  int16_t colour = 0;
  uint8_t port = 0;
  int32_t priority = 0;
  uint32_t value = 0;
};

class EventQueue {
public:
  EventQueue() : wheel(slots) {}

  int64_t made() const { return count; }
  /// `time` isn't before that of the last event taken.
  void post(int64_t time, EventKind kind, const Event &event) {
    ++count;
    if (time < now + slots) {
      wheel[time % slots].kinds[static_cast<int>(kind)].push_back(event);
      ++near;
    } else {
      far.push({time, count, kind, event});
    }
  }
  /// Takes the next event; false if there is none.
  bool take(int64_t &time, EventKind &kind, Event &event) {
    while (true) {
      Slot &slot = wheel[now % slots];
      for (int k = 0; k < 4; ++k)
        if (slot.taken[k] < slot.kinds[k].size()) {
          time = now;
          kind = static_cast<EventKind>(k);
          event = slot.kinds[k][slot.taken[k]++];
          --near;
          return true;
        }
      for (int k = 0; k < 4; ++k) {
        slot.kinds[k].clear();
        slot.taken[k] = 0;
      }
      if (near == 0 && far.empty())
        return false;
      now = near > 0 ? now + 1 : far.top().time;
      while (!far.empty() && far.top().time < now + slots) {
        const Far &top = far.top();
        wheel[top.time % slots].kinds[static_cast<int>(top.kind)].push_back(
            top.event);
        ++near;
        far.pop();
      }
    }
  }

private:
  static constexpr int64_t slots = 1024;
  struct Slot {
    std::array<std::vector<Event>, 4> kinds;
    std::array<size_t, 4> taken = {};
  };
  struct Far {
    int64_t time, number;
    EventKind kind;
    Event event;
    bool operator<(const Far &other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };

  std::vector<Slot> wheel;
  std::priority_queue<Far> far;
  int64_t now = 0, near = 0, count = 0;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_EVENT_QUEUE_H
