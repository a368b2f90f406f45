// Files that are cut, flipped or forged (with hashes made right again) are refused with words that name the place.
#include <gtest/gtest.h>

#include <fstream>

#include "engine/test_engine.h"
#include "engine/test_frame.h"

namespace camshaft::engine {
namespace {

EngineMeta placed_meta(uint64_t* constants_bytes) {
  EngineMeta meta = test_meta();
  uint64_t offset = 0;
  for (ConstantEntry& entry : meta.plan.constants) {
    entry.offset = offset;
    offset += (entry.bytes + 63) / 64 * 64;
  }
  *constants_bytes = offset;
  return meta;
}

Sections good_sections() {
  uint64_t bytes = 0;
  const EngineMeta meta = placed_meta(&bytes);
  return sections_of(meta, bytes);
}

std::string refusal(std::span<const std::byte> file, Code code = Code::kDataLoss) {
  const auto read = read_engine_meta(file);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.status().code(), code) << read.status().message();
  return read.status().message();
}

void expect_refused(std::span<const std::byte> file, std::string_view words, Code code = Code::kDataLoss) {
  const std::string message = refusal(file, code);
  EXPECT_NE(message.find(words), std::string::npos) << "'" << words << "' is not in: " << message;
}

TEST(DamagedEngine, TheFrameOfTheTestsIsGood) {
  const auto file = frame(good_sections());
  EXPECT_EQ(refusal(file), "accepted");
}

TEST(DamagedEngine, CutAnywhere) {
  const auto file = frame(good_sections());
  for (size_t size = 0; size < kHeaderBytes; ++size) {
    ASSERT_NE(refusal(std::span(file).first(size)), "accepted") << size;
  }
  expect_refused(std::span(file).first(0), "engine header: 'magic' at byte 0 needs 8 bytes, 0 are left");
  expect_refused(std::span(file).first(11), "'format version' at byte 8 needs 4 bytes, 3 are left");
  expect_refused(std::span(file).first(kHeaderBytes - 1), "engine header: needs 4096 bytes, the file has 4095; the file is cut");
  for (size_t size = kHeaderBytes; size < file.size(); size += size % 4096 == 0 ? 1 : size % 4096 == 1 ? 4094 : 1) {
    expect_refused(std::span(file).first(size),
                   format("it says {} bytes, the file has {}; the file is cut or overwritten", file.size(), size));
  }
  auto longer = file;
  longer.push_back(std::byte{0});
  expect_refused(longer, "the file is cut or overwritten");
}

TEST(DamagedEngine, AFlippedBitBetweenSections) {
  auto file = frame(good_sections());
  const auto header = decode_header(std::span(file).first(kHeaderBytes), file.size());
  ASSERT_TRUE(header.ok());
  for (size_t i = 0; i + 1 < header->sections.size(); ++i) {
    const SectionEntry& entry = header->sections[i];
    file[entry.offset + entry.size] ^= std::byte{4};
    expect_refused(file, format("section '{}': the", header->sections[i + 1].name));
    file[entry.offset + entry.size] ^= std::byte{4};
  }
}

TEST(DamagedEngine, AFlippedBitInEachByteOfTheHeader) {
  auto file = frame(good_sections());
  for (size_t at = 0; at < kHeaderBytes; ++at) {
    file[at] ^= std::byte{static_cast<unsigned char>(1 << (at % 8))};
    const auto read = read_engine_meta(file);
    ASSERT_FALSE(read.ok()) << "byte " << at;
    const std::string_view words = at < 8    ? "the file does not begin with 'CAMSHAFT'"
                                   : at < 12 ? "the file has format version"
                                             : "engine header: its hash is ";
    ASSERT_NE(read.status().message().find(words), std::string::npos) << "byte " << at << ": " << read.status().message();
    file[at] ^= std::byte{static_cast<unsigned char>(1 << (at % 8))};
  }
}

TEST(DamagedEngine, AFlippedBitInEachSmallSection) {
  auto file = frame(good_sections());
  const auto header = decode_header(std::span(file).first(kHeaderBytes), file.size());
  ASSERT_TRUE(header.ok());
  for (const SectionEntry& entry : header->sections) {
    if (entry.name == kConstantsSection) continue;
    for (const uint64_t at : {entry.offset, entry.offset + entry.size / 2, entry.offset + entry.size - 1}) {
      file[at] ^= std::byte{4};
      expect_refused(file, "section '" + entry.name + "': its hash is ");
      file[at] ^= std::byte{4};
    }
  }
}

TEST(DamagedEngine, AnotherFormatVersion) {
  const auto file = frame(good_sections(), [](FileHeader& header) { header.format_version = 7; });
  expect_refused(file, "the file has format version 7, this Camshaft reads 1; build the engine again with 'camshaft build'",
                 Code::kFailedPrecondition);
}

TEST(DamagedEngine, ForgedTables) {
  const Sections sections = good_sections();
  const auto forged = [&](auto change) { return frame(sections, change); };
  expect_refused(forged([](FileHeader& h) { h.sections[1].offset = h.sections[0].offset; }), "section 'plan' lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.sections[1].offset += 1; }), "section 'plan' lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.sections[0].offset = 0; }), "section 'info' lies at bytes 0 to");
  expect_refused(forged([](FileHeader& h) { h.sections[0].size += 8192; }), "section 'plan' lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.sections[4].offset = uint64_t{1} << 40; }), "section 'constants' lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.sections[4].size = UINT64_MAX; }), "section 'constants' lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.sections[4].offset = UINT64_MAX - 4095; }), "section 'constants' lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.file_bytes = 4096; }), "it says 4096 bytes");
  expect_refused(forged([](FileHeader& h) { std::swap(h.sections[1], h.sections[2]); }), "lies at bytes");
  expect_refused(forged([](FileHeader& h) { h.sections[2].name = "plan"; }), "section 'plan' stands twice");
  expect_refused(forged([](FileHeader& h) { h.sections.clear(); }), "section 'info' is missing");
  for (size_t i = 0; i < sections.size(); ++i) {
    const std::string& name = sections[i].first;
    expect_refused(forged([&](FileHeader& h) { h.sections.erase(h.sections.begin() + static_cast<ptrdiff_t>(i)); }),
                   "section '" + name + "' is missing");
    if (name == kConstantsSection) continue;
    expect_refused(forged([&](FileHeader& h) { h.sections[i].hash.low ^= 1; }), "section '" + name + "': its hash is ");
    expect_refused(forged([&](FileHeader& h) { h.sections[i].size -= 1; }), "section '" + name + "': its hash is ");
  }
}

TEST(DamagedEngine, TooManySections) {
  auto file = frame(good_sections());
  const uint32_t count = 65;
  std::memcpy(file.data() + 12, &count, 4);
  const base::Hash128 hash = base::hash128(std::span(file).first(kHeaderBytes - 16));
  std::memcpy(file.data() + kHeaderBytes - 16, &hash.low, 8);
  std::memcpy(file.data() + kHeaderBytes - 8, &hash.high, 8);
  expect_refused(file, "engine header: 65 sections, at most 64 are allowed");
}

// Every prefix of every small section, and one byte more, under right hashes.
TEST(DamagedEngine, CutSectionsUnderRightHashes) {
  const Sections sections = good_sections();
  for (size_t i = 0; i + 1 < sections.size(); ++i) {
    for (size_t size = 0; size < sections[i].second.size(); ++size) {
      Sections cut = sections;
      cut[i].second.resize(size);
      const std::string message = refusal(frame(cut), Code::kDataLoss);
      ASSERT_NE(message.find("section '" + sections[i].first + "'"), std::string::npos) << size << ": " << message;
    }
    Sections longer = sections;
    longer[i].second.push_back(std::byte{1});
    expect_refused(frame(longer), "section '" + sections[i].first + "': 'bytes at the end'");
  }
}

// Each byte of the plan set to 0xff under right hashes: accepted or refused in words, never a crash; what is accepted can be
// printed.
TEST(DamagedEngine, EachByteOfTheSectionsForged) {
  const Sections sections = good_sections();
  for (size_t i = 0; i + 1 < sections.size(); ++i) {
    for (size_t at = 0; at < sections[i].second.size(); ++at) {
      Sections forged = sections;
      forged[i].second[at] = std::byte{0xff};
      const auto read = read_engine_meta(frame(forged));
      if (read.ok()) {
        (void)plan_to_json(read->plan).dump();
      } else {
        ASSERT_NE(read.status().code(), Code::kInternal) << read.status().message();
      }
    }
  }
}

struct ForgedPlan {
  const char* words;
  void (*change)(Plan& plan);
};

// Each alone makes a plan that a runner must not see.
constexpr ForgedPlan kForgedPlans[] = {
    {"plan: arena_bytes is 0", [](Plan& p) { p.arena_bytes = 0; }},
    {"plan: arena_bytes is", [](Plan& p) { p.arena_bytes = INT64_MAX; }},
    {"plan: max_batch_tokens is -1", [](Plan& p) { p.max_batch_tokens = -1; }},
    {"plan: max_logit_rows is", [](Plan& p) { p.max_logit_rows = 1 << 30; }},
    {"plan: max_workers is 0", [](Plan& p) { p.max_workers = 0; }},
    {"plan: vocab is 0", [](Plan& p) { p.vocab = 0; }},
    {"plan: context_length is", [](Plan& p) { p.context_length = INT64_MAX; }},
    {"plan: kv layers is 0", [](Plan& p) { p.kv.layers = 0; }},
    {"plan: kv heads is", [](Plan& p) { p.kv.kv_heads = INT64_MIN; }},
    {"plan: kv head_dim is", [](Plan& p) { p.kv.head_dim = 1 << 20; }},
    {"the cache format is q8_0, allowed are f16 and f32", [](Plan& p) { p.kv.format = tensor::Format::kQ8_0; }},
    {"last bucket is 0", [](Plan& p) { p.buckets.clear(); }},
    {"last bucket is 31", [](Plan& p) { p.buckets.back().max_rows = 31; }},
    {"bucket is 4, allowed",
     [](Plan& p) {
       p.buckets = {{4}, {4}, {32}};
     }},
    {"bucket is -3", [](Plan& p) { p.buckets[0].max_rows = -3; }},
    {"rotary_dim", [](Plan& p) { p.rope.rotary_dim = INT64_MAX; }},
    {"freq_factors",
     [](Plan& p) {
       p.rope.freq_factors = {1, 2};
     }},
    {"rope head_dim is 16", [](Plan& p) { p.rope.head_dim = 16; }},
    {"step 'rope' (rope_kv_write): its rotary parameters", [](Plan& p) { p.rope.theta = 200; }},
    {"step 'rope' (rope_kv_write): its rotary parameters", [](Plan& p) { p.rope = {}; }},
    {"step 'rope' (rope_kv_write): its cache shape", [](Plan& p) { std::get<ops::RopeKvWriteDesc>(p.steps[3].desc).kv.layer = 1; }},
    {"step 'attend' (attention): its cache shape", [](Plan& p) { std::get<ops::AttentionDesc>(p.steps[4].desc).kv.head_dim = 4; }},
    {"number of tactics is 1", [](Plan& p) { p.steps[2].tactics.pop_back(); }},
    {"number of tactics is 3", [](Plan& p) { p.steps[2].tactics.push_back(0); }},
    {"workspace offset is -64", [](Plan& p) { p.steps[0].workspace_offset = -64; }},
    {"workspace offset is", [](Plan& p) { p.steps[0].workspace_offset = p.arena_bytes + 64; }},
    {"workspace offset is 4", [](Plan& p) { p.steps[0].workspace_offset = 4; }},
    {"norm: constant is 4", [](Plan& p) { p.steps[1].inputs[1].constant = 4; }},
    {"norm: constant is -1", [](Plan& p) { p.steps[1].inputs[1].constant = -1; }},
    {"input 1 is constant 'table'", [](Plan& p) { p.steps[1].inputs[1].constant = 0; }},
    {"input 1 is constant 'norm'", [](Plan& p) { p.steps[2].inputs[1].constant = 1; }},
    {"input 0: 32 rows of 16 columns, stride 16, at byte -4", [](Plan& p) { p.steps[1].inputs[0].offset = -4; }},
    {"at byte 2 pass the arena", [](Plan& p) { p.steps[1].inputs[0].offset = 2; }},
    {"output 0: 32 rows of 16 columns", [](Plan& p) { p.steps[0].outputs[0].offset = p.arena_bytes - 64; }},
    {"stride 15", [](Plan& p) { p.steps[0].outputs[0].stride = 15; }},
    {"stride 9223372036854775807", [](Plan& p) { p.steps[0].outputs[0].stride = INT64_MAX; }},
    {"stride -16", [](Plan& p) { p.steps[0].outputs[0].stride = -16; }},
    {"at byte 9223372036854775804", [](Plan& p) { p.steps[0].outputs[0].offset = INT64_MAX - 3; }},
    {"1 inputs, expected 2", [](Plan& p) { p.steps[0].inputs.pop_back(); }},
    {"0 outputs, expected 1", [](Plan& p) { p.steps[0].outputs.clear(); }},
    {"input 0 lies in another place", [](Plan& p) { p.steps[0].inputs[0].place = Operand::Place::kLogitRows; }},
    {"input 1 lies in another place", [](Plan& p) { p.steps[0].inputs[1].place = Operand::Place::kArena; }},
    {"output 0 lies in another place", [](Plan& p) { p.steps[0].outputs[0] = p.steps[0].inputs[1]; }},
    {"output 0 is the logits of 32 columns", [](Plan& p) { p.steps[0].outputs[0].place = Operand::Place::kLogits; }},
    {"it runs over tokens", [](Plan& p) { p.steps[5].rows = ops::Symbol::kTokens; }},
    {"it runs over logit rows", [](Plan& p) { p.steps[4].rows = ops::Symbol::kLogitRows; }},
    {"it runs over tokens", [](Plan& p) { p.steps[5].rows = ops::Symbol::kNone; }},
    {"output 0 is the logits of 31 columns", [](Plan& p) { p.vocab = 31; }},
    {"this op leaves no step",
     [](Plan& p) {
       p.steps[1].desc = ops::SliceDesc{0, 16};
     }},
    {"constant 'qkv' [32, 16] lies at byte", [](Plan& p) { p.constants[2].offset = uint64_t{1} << 40; }},
    {"constant 'qkv' [32, 16] lies at byte", [](Plan& p) { p.constants[2].offset = UINT64_MAX - 63; }},
    {"constant 'qkv' [32, 16] lies at byte 2", [](Plan& p) { p.constants[2].offset += 1; }},
    {"constant 'qkv' [32, 16] lies at byte", [](Plan& p) { p.constants[2].bytes = UINT64_MAX; }},
    {"constant 'qkv' [-32, 16]", [](Plan& p) { p.constants[2].n = -32; }},
    {"constant 'qkv' [32, 1099511627776]", [](Plan& p) { p.constants[2].k = int64_t{1} << 40; }},
    {"input 1 is constant 'norm' f32 [1, 16] of 60 bytes", [](Plan& p) { p.constants[1].bytes = 60; }},
    {"input 1 is constant 'qkv' f16", [](Plan& p) { p.constants[2].format = tensor::Format::kF16; }},
};

TEST(DamagedEngine, ForgedPlansUnderRightHashes) {
  for (const ForgedPlan& forged : kForgedPlans) {
    SCOPED_TRACE(forged.words);
    uint64_t bytes = 0;
    EngineMeta meta = placed_meta(&bytes);
    forged.change(meta.plan);
    const auto file = frame(sections_of(meta, bytes));
    expect_refused(file, "section 'plan'");
    expect_refused(file, forged.words);
  }
}

TEST(DamagedEngine, TheFilesNameIsInTheRefusal) {
  const TestFile file("damaged.engine");
  auto bytes = frame(good_sections());
  bytes.resize(5000);
  std::ofstream(file.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  for (const auto& status : {Engine::load(file.path, test_load_options()).status(), Engine::open_meta(file.path).status()}) {
    EXPECT_TRUE(status.message().starts_with(file.path.string())) << status.message();
  }
}

}  // namespace
}  // namespace camshaft::engine
