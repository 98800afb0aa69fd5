// A small thread pool. The problem, never the number of threads, determines how work is split into numbered
// tasks, so results do not depend on the number of threads.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace maxmargin {

// Called on the calling thread, between tasks and while it waits for helpers; it throws to cancel the
// remaining work.
using Poll = std::function<void()>;

class Pool {
  public:
    // The pool of this process. A forked child has none of its parent's threads: it starts with a new, empty
    // pool and does not touch the parent's.
    static Pool& instance() {
        static const bool registered = (pthread_atfork(nullptr, nullptr, [] { current() = new Pool; }), true);
        (void)registered;
        return *current();
    }

    // Calls body(task) for task = 0 .. n_tasks-1 on up to n_threads threads, including the caller's. The
    // first exception thrown by body or poll stops the remaining tasks and is rethrown here.
    void run(std::size_t n_tasks, int n_threads, const std::function<void(std::size_t)>& body,
             const Poll& poll) {
        Job job(n_tasks, body);
        const std::size_t helpers =
            std::min<std::size_t>(std::max(n_threads, 1) - 1, n_tasks > 0 ? n_tasks - 1 : 0);
        const bool published = helpers > 0 && publish(job, helpers);
        job.work(poll);
        if (published) withdraw(job, poll);
        if (job.error) std::rethrow_exception(job.error);
    }

  private:
    static constexpr std::chrono::milliseconds time_between_polls{10};

    struct Job {
        Job(std::size_t n, const std::function<void(std::size_t)>& f) : n_tasks(n), body(f) {}
        std::size_t n_tasks;
        const std::function<void(std::size_t)>& body;
        std::atomic<std::size_t> next{0};
        std::size_t wanted = 0, active = 0;  // guarded by the pool's mutex
        std::exception_ptr error = nullptr;
        std::mutex error_mutex;

        void work(const Poll& poll) {
            guarded([&] {
                for (std::size_t task; (task = next.fetch_add(1)) < n_tasks;) {
                    body(task);
                    if (poll) poll();
                }
            });
        }

        // Calls f. True unless it throws, which ends the job.
        template <class F>
        bool guarded(const F& f) {
            try {
                f();
                return true;
            } catch (...) {
                next.store(n_tasks);
                const std::lock_guard lock(error_mutex);
                if (!error) error = std::current_exception();
                return false;
            }
        }
    };

    // Leaked deliberately: joining threads during interpreter shutdown, or in a forked child, can hang.
    static Pool*& current() {
        static Pool* pool = new Pool;
        return pool;
    }

    // Whether any thread may help. Where the system refuses to start one, at a limit of memory or processes,
    // those that exist do the work, or the caller alone.
    bool publish(Job& job, std::size_t helpers) {
        const std::lock_guard lock(mutex_);
        try {
            for (; n_workers_ < helpers; ++n_workers_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {
        }
        job.wanted = std::min(helpers, n_workers_);
        if (job.wanted == 0) return false;
        jobs_.push_back(&job);
        wake_.notify_all();
        return true;
    }

    void withdraw(Job& job, const Poll& poll) {
        const auto done = [&] { return job.active == 0; };
        std::unique_lock lock(mutex_);
        std::erase(jobs_, &job);
        for (bool polls = bool(poll); polls && !done_.wait_for(lock, time_between_polls, done);) {
            lock.unlock();
            polls = job.guarded(poll);
            lock.lock();
        }
        done_.wait(lock, done);
    }

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return !jobs_.empty(); });
            Job& job = *jobs_.front();
            ++job.active;
            if (--job.wanted == 0) jobs_.pop_front();
            lock.unlock();
            job.work({});
            lock.lock();
            if (--job.active == 0) done_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::deque<Job*> jobs_;
    std::size_t n_workers_ = 0;
};

}  // namespace maxmargin
