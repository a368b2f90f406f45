// The cache over a tiny checkpoint: one build for one content and set of options, wherever the files lie.
#include "cli/engine_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

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

  fs::path root_;
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
