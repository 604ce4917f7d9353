// Handles of the two stand-ins: numbers that look like pointers and are never given out twice, so
// that a destroyed or foreign one is recognised.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace fake_gpu {

template <class T>
class Handles {
 public:
  void* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    next_ += 16;
    objects_.emplace(next_, std::move(object));
    return reinterpret_cast<void*>(next_);
  }

  // Null where the handle is unknown or was removed.
  std::shared_ptr<T> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return at == objects_.end() ? nullptr : at->second;
  }

  std::shared_ptr<T> remove(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (at == objects_.end()) return nullptr;
    auto object = std::move(at->second);
    objects_.erase(at);
    return object;
  }

  std::vector<std::shared_ptr<T>> remove_if(const std::function<bool(const T&)>& chosen) {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> removed;
    for (auto at = objects_.begin(); at != objects_.end();) {
      if (chosen(*at->second)) {
        removed.push_back(std::move(at->second));
        at = objects_.erase(at);
      } else {
        ++at;
      }
    }
    return removed;
  }

  std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> objects;
    for (const auto& [handle, object] : objects_) objects.push_back(object);
    return objects;
  }

 private:
  mutable std::mutex mutex_;
  std::uintptr_t next_ = 0x10000;
  std::map<std::uintptr_t, std::shared_ptr<T>> objects_;
};

}  // namespace fake_gpu
