// The pool: every task once, exceptions from tasks and from the poll, and use after fork.
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "maxmargin/core/threads.hpp"

using namespace maxmargin;

static bool each_task_runs_once(std::size_t n_tasks, int n_threads) {
    std::vector<std::atomic<int>> count(n_tasks);
    Pool::instance().run(n_tasks, n_threads, [&](std::size_t task) { ++count[task]; }, {});
    return std::all_of(count.begin(), count.end(), [](const auto& c) { return c == 1; });
}

template <class F>
static bool throws(F&& run) {
    try {
        run();
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}

void test_threads() {
    for (std::size_t n_tasks : {0u, 1u, 2u, 1000u})
        for (int n_threads : {0, 1, 2, 7}) CHECK(each_task_runs_once(n_tasks, n_threads));
    const auto fail_at = [](std::size_t at) {
        return [at](std::size_t task) {
            if (task == at) throw std::runtime_error("task");
        };
    };
    CHECK(throws([&] { Pool::instance().run(100, 3, fail_at(57), {}); }));
    CHECK(throws(
        [&] { Pool::instance().run(100, 1, [](std::size_t) {}, [] { throw std::runtime_error("poll"); }); }));
    CHECK(each_task_runs_once(100, 3));  // the pool survives both
    const pid_t child = fork();
    if (child == 0) _exit(each_task_runs_once(100, 3) ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
