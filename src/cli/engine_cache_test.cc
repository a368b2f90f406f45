// The cache over a tiny checkpoint: one build for one content and set of options, wherever the files lie.
#include "cli/engine_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/format.h"

namespace camshaft::cli {
namespace {

namespace fs = std::filesystem;

class EngineCache : public testing::Test {
 protected:
  EngineCache() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / format("camshaft_cache_{}_{}", fs::read_symlink("/proc/self").string(), test->name());
    fs::create_directories(root_);
    fs::copy(CAMSHAFT_SOURCE_DIR "/tests/golden/tiny/llama_linear", model());
    const auto table = build_option_table(options_);
    EXPECT_TRUE(base::set_defaults(table).ok());
    options_.isa = "generic";
    options_.max_rows = 64;
    options_.threads = 1;
  }
  ~EngineCache() override { fs::remove_all(root_); }

  fs::path model() const { return root_ / "model"; }
  fs::path folder() const { return root_ / "cache"; }
  // The engine's path; builds are counted by the notice on standard error.
  fs::path cached(const fs::path& from) { return cached(from, folder()); }
  fs::path cached(const fs::path& from, const fs::path& into) {
    testing::internal::CaptureStderr();
    const auto path = cached_engine(from, options_, into);
    builds_ += testing::internal::GetCapturedStderr().find("building an engine") != std::string::npos;
    EXPECT_TRUE(path.ok()) << path.status().message();
    return path.ok() ? *path : fs::path();
  }

  Result<std::unique_ptr<engine::Engine>> load() { return load(folder()); }
  Result<std::unique_ptr<engine::Engine>> load(const fs::path& from) {
    engine::LoadOptions how;
    how.machine.features = kernels::machine_features();
    how.machine.target = target_;
    testing::internal::CaptureStderr();
    auto engine = load_cached_engine(model(), options_, from, how);
    said_ = testing::internal::GetCapturedStderr();
    return engine;
  }
  bool said(std::string_view words) const { return said_.find(words) != std::string::npos; }

  static std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static int64_t count(const fs::path& folder, std::string_view part) {
    return std::ranges::count_if(fs::directory_iterator(folder), [&](const fs::directory_entry& entry) {
      return entry.path().filename().string().find(part) != std::string::npos;
    });
  }

  fs::path root_;
  std::string target_ = "cpu";
  std::string said_;
  BuildOptions options_;
  int builds_ = 0;
};

TEST_F(EngineCache, TheSameFilesAndOptionsAreBuiltOnce) {
  const fs::path first = cached(model());
  EXPECT_EQ(builds_, 1);
  EXPECT_TRUE(engine::is_engine_file(first).value());
  EXPECT_EQ(cached(model()), first);
  EXPECT_EQ(builds_, 1);
}

TEST_F(EngineCache, MovedTouchedAndCopiedFilesAreNotBuiltAgain) {
  const fs::path first = cached(model());
  fs::rename(model(), root_ / "moved");
  EXPECT_EQ(cached(root_ / "moved"), first);
  fs::last_write_time(root_ / "moved" / "model.safetensors", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(cached(root_ / "moved"), first);
  fs::copy(root_ / "moved", root_ / "copy");
  EXPECT_EQ(cached(root_ / "copy"), first);
  EXPECT_EQ(builds_, 1);
}

TEST_F(EngineCache, OtherOptionsAndOtherContentAreOtherEngines) {
  const fs::path first = cached(model());
  options_.precision = "f32";
  const fs::path exact = cached(model());
  EXPECT_NE(exact, first);
  EXPECT_EQ(builds_, 2);
  std::fstream file(model() / "model.safetensors", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-2, std::ios::end);
  file.put('\x11');
  file.close();
  EXPECT_NE(cached(model()), exact);
  EXPECT_EQ(builds_, 3);
}

// The first answer is found by the key file alone: content is not read again, so a change that path, size and time hide is not
// seen.
TEST_F(EngineCache, KeyFilesSpareReadingTheContent) {
  for (const fs::path& into : {folder(), root_ / "other" / ""}) {
    const fs::path weights = model() / "model.safetensors";
    const fs::path first = cached(model(), into);
    const auto time = fs::last_write_time(weights);
    std::fstream file(weights, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-2, std::ios::end);
    file.put(static_cast<char>(0x20 + builds_));
    file.close();
    fs::last_write_time(weights, time);
    const int before = builds_;
    EXPECT_EQ(cached(model(), into), first);
    EXPECT_EQ(builds_, before) << into;
  }
}

TEST_F(EngineCache, ALostEngineIsBuiltAgainAndForgedKeysLeadNowhere) {
  const fs::path first = cached(model());
  fs::remove(first);
  EXPECT_EQ(cached(model()), first);
  EXPECT_EQ(builds_, 2);
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".key") std::ofstream(entry.path(), std::ios::trunc) << "../model/config.json";
  }
  EXPECT_EQ(cached(model()), first);
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".key") std::ofstream(entry.path(), std::ios::trunc) << "..";
  }
  EXPECT_EQ(cached(model()), first);
  EXPECT_EQ(builds_, 2);
}

TEST_F(EngineCache, AnEngineThatIsRefusedIsBuiltAgain) {
  const fs::path path = cached(model());
  const std::string whole = bytes_of(path);
  std::string flipped = whole, older = whole;
  flipped[flipped.size() / 2] ^= 4;
  older[8] = static_cast<char>(older[8] - 1);
  const std::pair<std::string, const char*> damages[] = {{whole.substr(0, whole.size() / 2), "cut"},
                                                         {whole.substr(0, 5), ""},
                                                         {"", ""},
                                                         {flipped, "damaged"},
                                                         {older, "format version 0"}};
  for (const auto& [bytes, why] : damages) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const auto engine = load();
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    EXPECT_EQ((*engine)->file_bytes(), whole.size());
    EXPECT_TRUE(said("warning: an engine in the cache is refused and is built again: " + path.string())) << said_;
    EXPECT_TRUE(said(why)) << said_;
    EXPECT_EQ(bytes_of(path), whole);
    ASSERT_TRUE(load().ok());
    EXPECT_EQ(said_, "");
  }
}

// It would be refused for ever.
TEST_F(EngineCache, AnEngineForAnotherMachineIsNotBuiltAgain) {
  cached(model());
  target_ = "gpu";
  EXPECT_EQ(load().status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(said_, "");
}

TEST_F(EngineCache, WithoutAFolderTheEngineIsForThisRunAlone) {
  const fs::path temporary = root_ / "temporary";
  fs::create_directories(temporary);
  ASSERT_EQ(setenv("TMPDIR", temporary.c_str(), 1), 0);
  std::ofstream(root_ / "file") << "in the way";
  for (const fs::path& nowhere : {root_ / "file" / "cache", fs::path("/proc/none"), fs::path()}) {
    const auto engine = load(nowhere);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    EXPECT_TRUE(said("warning: ") && said("--cache") && said(nowhere.string())) << said_;
    EXPECT_TRUE(fs::is_empty(temporary));
  }
  ASSERT_EQ(setenv("TMPDIR", (root_ / "file").c_str(), 1), 0);
  EXPECT_TRUE(load(root_ / "file" / "cache").ok());  // then in /tmp
  unsetenv("TMPDIR");
}

TEST_F(EngineCache, AFullDiskLeavesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{16 << 10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto engine = load();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(engine.status().code(), Code::kIo);
  EXPECT_NE(engine.status().message().find(folder().string()), std::string::npos) << engine.status().message();
  EXPECT_NE(engine.status().message().find("--cache"), std::string::npos) << engine.status().message();
  EXPECT_TRUE(fs::is_empty(folder()));
  EXPECT_TRUE(load().ok());
}

TEST_F(EngineCache, SeveralMayBuildTheSameAtOnce) {
  engine::LoadOptions how;
  how.machine.features = kernels::machine_features();
  std::vector<std::thread> threads;
  std::atomic<int> loaded{0};
  testing::internal::CaptureStderr();
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { loaded += load_cached_engine(model(), options_, folder(), how).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(loaded, 4);
  EXPECT_EQ(count(folder(), ".tmp"), 0);
  EXPECT_EQ(count(folder(), ".engine"), 1);
}

TEST(DefaultCacheFolder, IsTheUsersOwn) {
  const std::string old_home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  const auto with = [](const char* cache, const char* home) {
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    return default_cache_folder();
  };
  EXPECT_EQ(with("/a", "/b"), "/a/camshaft");
  EXPECT_EQ(with("", "/b"), "/b/.cache/camshaft");
  EXPECT_EQ(with("relative", "/b"), "/b/.cache/camshaft");
  const fs::path known = with("", "");
  EXPECT_TRUE(known.empty() || known.string().ends_with("/.cache/camshaft")) << known;
  EXPECT_NE(known.parent_path(), fs::temp_directory_path());
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", old_home.c_str(), 1);
}

TEST_F(EngineCache, RefusesBeforeItBuilds) {
  EXPECT_EQ(cached_engine(root_ / "nothing", options_, folder()).status().code(), Code::kNotFound);
  options_.passes = "-quantise";
  EXPECT_EQ(cached_engine(model(), options_, folder()).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(!fs::exists(folder()) || std::ranges::none_of(fs::directory_iterator(folder()), [](const auto& entry) {
    return entry.path().extension() == ".engine" || entry.path().extension() == ".key";
  }));
}

}  // namespace
}  // namespace camshaft::cli
