// GGUF files built in code: what is read, and what each damage is called.
#include <gtest/gtest.h>

#include <functional>

#include "checkpoint/checkpoint.h"
#include "checkpoint/gguf_types.h"
#include "checkpoint/test_files.h"

namespace camshaft::checkpoint {
namespace {

constexpr uint32_t kF32 = 0, kQ8 = 8;

// A small valid file in parts that a test changes before build().
struct File {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> num_tensors, num_pairs;  // announced; else what is there
  std::vector<std::string> pairs;
  std::vector<std::string> tensors;
  std::string data = std::string(160, 'x');
  size_t alignment = 32;

  std::string build() const {
    Bytes bytes;
    bytes.text(magic).put(version);
    bytes.put<uint64_t>(num_tensors.value_or(tensors.size())).put<uint64_t>(num_pairs.value_or(pairs.size()));
    for (const std::string& pair : pairs) bytes.text(pair);
    for (const std::string& tensor : tensors) bytes.text(tensor);
    return bytes.pad_to(alignment).text(data).str();
  }
};

std::string pair(std::string_view key, GgufType type, const std::string& value) {
  return Bytes().string(key).put(static_cast<uint32_t>(type)).text(value).str();
}
template <typename T>
std::string raw(T value) {
  return Bytes().put(value).str();
}
std::string text(std::string_view value) { return Bytes().string(value).str(); }
std::string array(GgufType type, uint64_t count, const std::string& elements) {
  return Bytes().put(static_cast<uint32_t>(type)).put(count).text(elements).str();
}
std::string tensor(std::string_view name, const std::vector<uint64_t>& extents, uint32_t type, uint64_t offset) {
  Bytes bytes;
  bytes.string(name).put(static_cast<uint32_t>(extents.size()));
  for (uint64_t extent : extents) bytes.put(extent);
  return bytes.put(type).put(offset).str();
}

// a: 2 rows of 8 floats (64 bytes); b: 64 elements of Q8_0 (68 bytes, padded to 96).
File good_file() {
  File file;
  file.pairs = {pair("general.architecture", GgufType::kString, text("llama")),
                pair("general.name", GgufType::kString, text("Tiny"))};
  file.tensors = {tensor("a", {8, 2}, kF32, 0), tensor("b", {64}, kQ8, 64)};
  return file;
}

std::string vocabulary_pairs(std::vector<std::string>& pairs) {
  pairs.push_back(pair("tokenizer.ggml.model", GgufType::kString, text("gpt2")));
  pairs.push_back(pair("tokenizer.ggml.pre", GgufType::kString, text("gpt-2")));
  pairs.push_back(pair("tokenizer.ggml.tokens", GgufType::kArray,
                       array(GgufType::kString, 4, text("a") + text("b") + text("ab") + text("<|im_end|>"))));
  pairs.push_back(pair("tokenizer.ggml.token_type", GgufType::kArray,
                       array(GgufType::kI32, 4, raw<int32_t>(1) + raw<int32_t>(1) + raw<int32_t>(1) + raw<int32_t>(3))));
  pairs.push_back(pair("tokenizer.ggml.merges", GgufType::kArray, array(GgufType::kString, 1, text("a b"))));
  pairs.push_back(pair("tokenizer.ggml.eos_token_id", GgufType::kU32, raw<uint32_t>(3)));
  return "";
}

TEST(Gguf, ReadsTensorsAsViews) {
  const std::string bytes = good_file().build();
  auto opened = read_gguf(bytes_of(bytes), "tiny");
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  const Checkpoint& model = **opened;
  EXPECT_EQ(model.name(), "Tiny");
  ASSERT_EQ(model.tensors().size(), 2u);
  EXPECT_EQ(model.tensors()[0].view.shape, (tensor::Shape{2, 8}));
  EXPECT_EQ(model.find("b")->view.bytes.size(), 68u);
  EXPECT_EQ(reinterpret_cast<const char*>(model.find("a")->view.bytes.data()), bytes.data() + bytes.size() - 160);
  EXPECT_TRUE(model.tokenizer()->tokens.empty());
}

TEST(Gguf, ReadsEveryValueType) {
  File file;
  file.data.clear();
  file.version = 2;
  file.pairs = {
      pair("u8", GgufType::kU8, raw<uint8_t>(200)),
      pair("i8", GgufType::kI8, raw<int8_t>(-3)),
      pair("u16", GgufType::kU16, raw<uint16_t>(65535)),
      pair("i16", GgufType::kI16, raw<int16_t>(-300)),
      pair("u32", GgufType::kU32, raw<uint32_t>(4'000'000'000)),
      pair("i32", GgufType::kI32, raw<int32_t>(-70'000)),
      pair("f32", GgufType::kF32, raw(0.5f)),
      pair("bool", GgufType::kBool, raw<uint8_t>(1)),
      pair("string", GgufType::kString, text("gr\xC3\xBC\xC3\x9F")),
      pair("array", GgufType::kArray, array(GgufType::kU16, 2, raw<uint16_t>(7) + raw<uint16_t>(8))),
      pair("u64", GgufType::kU64, raw<uint64_t>(UINT64_MAX)),
      pair("i64", GgufType::kI64, raw<int64_t>(INT64_MIN)),
      pair("f64", GgufType::kF64, raw(0.25)),
      pair("nested", GgufType::kArray, array(GgufType::kArray, 1, array(GgufType::kString, 1, text("x")))),
  };
  const std::string bytes = file.build();
  auto opened = read_gguf(bytes_of(bytes), "values");
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->config().dump(),
            "{\"u8\":200,\"i8\":-3,\"u16\":65535,\"i16\":-300,\"u32\":4000000000,\"i32\":-70000,\"f32\":0.5,\"bool\":true,"
            "\"string\":\"gr\xC3\xBC\xC3\x9F\",\"array\":[7,8],\"u64\":18446744073709551615,\"i64\":-9223372036854775808,"
            "\"f64\":0.25,\"nested\":[[\"x\"]]}");
}

TEST(Gguf, OtherAlignments) {
  for (const uint32_t alignment : {1u, 64u, 65536u}) {
    File file;
    file.alignment = alignment;
    file.pairs = {pair("general.alignment", GgufType::kU32, raw(alignment))};
    file.tensors = {tensor("a", {8, 2}, kF32, 0)};
    file.data = std::string(64, 'x');
    const std::string bytes = file.build();
    EXPECT_TRUE(read_gguf(bytes_of(bytes), "x").ok()) << alignment;
  }
}

TEST(Gguf, Vocabulary) {
  File file;
  file.data.clear();
  vocabulary_pairs(file.pairs);
  const std::string bytes = file.build();
  auto opened = read_gguf(bytes_of(bytes), "x");
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->config().find("tokenizer.ggml.merges"), nullptr);
  auto spec = (*opened)->tokenizer();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->tokens, (std::vector<std::string>{"a", "b", "ab", "<|im_end|>"}));
  EXPECT_EQ(spec->end_ids, (std::vector<int32_t>{3}));
  EXPECT_EQ((*opened)->prompt()->eos_token, "<|im_end|>");
}

struct Bad {
  std::string_view damage;
  std::function<void(File&)> apply;
  std::string_view message;
  Code code = Code::kDataLoss;
};

const std::vector<Bad>& bad_files() {
  static const std::vector<Bad> kBad = {
      {"wrong magic", [](File& f) { f.magic = "GGML"; }, "does not begin with 'GGUF'"},
      {"lower-case magic", [](File& f) { f.magic = "gguf"; }, "does not begin with 'GGUF'"},
      {"version 0", [](File& f) { f.version = 0; }, "GGUF version 0", Code::kUnimplemented},
      {"version 1", [](File& f) { f.version = 1; }, "GGUF version 1", Code::kUnimplemented},
      {"version 4", [](File& f) { f.version = 4; }, "GGUF version 4", Code::kUnimplemented},
      {"big-endian", [](File& f) { f.version = 0x03000000; }, "big-endian", Code::kUnimplemented},
      {"too many tensors", [](File& f) { f.num_tensors = 200'001; }, "200001 tensors, the limit is 200000",
       Code::kResourceExhausted},
      {"tensors past the file", [](File& f) { f.num_tensors = 1000; }, "announces 1000 tensors"},
      {"huge tensor count", [](File& f) { f.num_tensors = UINT64_MAX; }, "the limit is 200000", Code::kResourceExhausted},
      {"too many pairs", [](File& f) { f.num_pairs = 65'537; }, "65537 metadata pairs, the limit is 65536",
       Code::kResourceExhausted},
      {"pairs past the file", [](File& f) { f.num_pairs = 65'000; }, "announces 65000 metadata pairs"},
      {"one pair too many", [](File& f) { f.num_pairs = 3; }, "'tensor name' at byte 128 is a string of", Code::kResourceExhausted},
      {"empty key", [](File& f) { f.pairs[0] = pair("", GgufType::kU8, "a"); }, "key of metadata pair 0 is empty"},
      {"key not UTF-8", [](File& f) { f.pairs[0] = pair("\xFF", GgufType::kU8, "a"); },
       "key of metadata pair 0 is not valid UTF-8"},
      {"key too long", [](File& f) { f.pairs[0] = Bytes().put<uint64_t>(65'536).str(); }, "65536 bytes, the limit is 65535",
       Code::kResourceExhausted},
      {"key twice", [](File& f) { f.pairs[1] = f.pairs[0]; }, "'general.architecture' appears twice"},
      {"unknown value type", [](File& f) { f.pairs[1] = pair("k", static_cast<GgufType>(13), "a"); },
       "'k' has the unknown value type 13"},
      {"bool of 2", [](File& f) { f.pairs[1] = pair("k", GgufType::kBool, "\x02"); }, "'k' is a bool with the byte 2"},
      {"string past the limit", [](File& f) { f.pairs[1] = pair("k", GgufType::kString, raw<uint64_t>((16 << 20) + 1)); },
       "the limit is 16777216", Code::kResourceExhausted},
      {"string past the file", [](File& f) { f.pairs[1] = pair("k", GgufType::kString, raw<uint64_t>(100'000)); },
       "needs 100000 bytes"},
      {"string of 2^64-1", [](File& f) { f.pairs[1] = pair("k", GgufType::kString, raw<uint64_t>(UINT64_MAX)); }, "the limit is",
       Code::kResourceExhausted},
      {"string not UTF-8", [](File& f) { f.pairs[1] = pair("k", GgufType::kString, text("\xC0\x80")); },
       "'k' is a string that is not"},
      {"array of an unknown type",
       [](File& f) { f.pairs[1] = pair("k", GgufType::kArray, array(static_cast<GgufType>(99), 1, "a")); },
       "'k' is an array of the unknown value type 99"},
      {"array past the limit", [](File& f) { f.pairs[1] = pair("k", GgufType::kArray, array(GgufType::kU8, (16 << 20) + 1, "a")); },
       "16777217 elements, the limit is 16777216", Code::kResourceExhausted},
      {"array past the file", [](File& f) { f.pairs[1] = pair("k", GgufType::kArray, array(GgufType::kF64, 1000, "a")); },
       "announces 1000 elements of f64"},
      {"array count 2^63", [](File& f) { f.pairs[1] = pair("k", GgufType::kArray, array(GgufType::kF64, uint64_t{1} << 63, "a")); },
       "the limit is", Code::kResourceExhausted},
      {"arrays too deep",
       [](File& f) {
         f.pairs[1] =
             pair("k", GgufType::kArray,
                  array(GgufType::kArray, 1, array(GgufType::kArray, 1, array(GgufType::kArray, 1, std::string(40, '\0')))));
       },
       "nests arrays deeper than 2"},
      {"alignment 0", [](File& f) { f.pairs[1] = pair("general.alignment", GgufType::kU32, raw(0u)); }, "general.alignment is 0"},
      {"alignment 48", [](File& f) { f.pairs[1] = pair("general.alignment", GgufType::kU32, raw(48u)); },
       "general.alignment is 48"},
      {"alignment 128 KiB", [](File& f) { f.pairs[1] = pair("general.alignment", GgufType::kU32, raw(131072u)); },
       "general.alignment is 131072"},
      {"alignment as text", [](File& f) { f.pairs[1] = pair("general.alignment", GgufType::kString, text("32")); },
       "general.alignment is \"32\""},
      {"empty tensor name",
       [](File& f) {
         f.tensors[0] = tensor("", {8, 2}, kF32, 0);
       },
       "tensor 0 has an empty name"},
      {"tensor name not UTF-8",
       [](File& f) {
         f.tensors[0] = tensor("\xED\xA0\x80", {8, 2}, kF32, 0);
       },
       "name of tensor 0 is not valid"},
      {"tensor name too long",
       [](File& f) {
         f.tensors[0] = tensor(std::string(513, 'n'), {8, 2}, kF32, 0);
       },
       "the limit is 512", Code::kResourceExhausted},
      {"tensor twice", [](File& f) { f.tensors[1] = tensor("a", {64}, kQ8, 64); }, "tensor 'a' appears twice"},
      {"rank 5",
       [](File& f) {
         f.tensors[0] = tensor("a", {8, 2, 1, 1, 1}, kF32, 0);
       },
       "'a' has 5 dimensions, the limit is 4"},
      {"rank 2^32-1", [](File& f) { f.tensors[0] = Bytes().string("a").put(UINT32_MAX).text(std::string(20, '\0')).str(); },
       "'a' has 4294967295 dimensions"},
      {"extent 0",
       [](File& f) {
         f.tensors[0] = tensor("a", {8, 0}, kF32, 0);
       },
       "dimension 1 has the extent 0"},
      {"extent 2^63", [](File& f) { f.tensors[0] = tensor("a", {uint64_t{1} << 63}, kF32, 0); },
       "has the extent 9223372036854775808"},
      {"product past 64 bits",
       [](File& f) {
         f.tensors[0] = tensor("a", {1u << 31, 1u << 31, 1u << 31}, kF32, 0);
       },
       "more elements than 64 bits", Code::kInvalidArgument},
      {"bytes past 64 bits", [](File& f) { f.tensors[0] = tensor("a", {uint64_t{1} << 62}, kF32, 0); }, "more bytes than 64 bits"},
      {"unknown tensor type",
       [](File& f) {
         f.tensors[0] = tensor("a", {8, 2}, 77, 0);
       },
       "tensor 'a': tensor type 77 is unknown", Code::kUnimplemented},
      {"unsupported tensor type", [](File& f) { f.tensors[0] = tensor("a", {256}, 10, 0); },
       "tensor type Q2_K (10) is not supported", Code::kUnimplemented},
      {"half a block", [](File& f) { f.tensors[1] = tensor("b", {48}, kQ8, 64); },
       "rows of 48 elements are no whole q8_0 blocks of 32"},
      {"offset not aligned", [](File& f) { f.tensors[1] = tensor("b", {64}, kQ8, 65); }, "offset 65, which is no multiple"},
      {"offset past the file", [](File& f) { f.tensors[1] = tensor("b", {64}, kQ8, 1 << 20); }, "only 160 are there"},
      {"offset + size past 64 bits", [](File& f) { f.tensors[1] = tensor("b", {64}, kQ8, UINT64_MAX - 31); }, "past 64 bits"},
      {"overlap", [](File& f) { f.tensors[1] = tensor("b", {64}, kQ8, 32); }, "tensors 'a' and 'b' overlap"},
      {"same place", [](File& f) { f.tensors[1] = tensor("b", {64}, kQ8, 0); }, "overlap"},
      {"gap", [](File& f) { f.tensors[1] = tensor("b", {32}, kQ8, 96); },
       "bytes 64 to 96 of the data, before tensor 'b', belong to no"},
      {"gap at the start", [](File& f) { f.tensors = {tensor("b", {64}, kQ8, 64)}; }, "bytes 0 to 64 of the data"},
      {"bytes after the end", [](File& f) { f.data += std::string(32, 'x'); }, "at the end of the data belong to no tensor"},
      {"data cut", [](File& f) { f.data.resize(100); }, "tensor 'b' takes bytes 64 to 132 of the data, but only 100 are there"},
      {"no data", [](File& f) { f.data.clear(); }, "but only 0 are there"},
      {"data without tensors", [](File& f) { f.tensors.clear(); }, "at the end of the data belong to no tensor"},
      {"vocabulary array of arrays",
       [](File& f) {
         f.pairs[1] = pair("tokenizer.ggml.tokens", GgufType::kArray, array(GgufType::kArray, 1, std::string(12, '\0')));
       },
       "is an array of arrays"},
      {"vocabulary string past the file",
       [](File& f) {
         f.pairs[1] = pair("tokenizer.ggml.tokens", GgufType::kArray, array(GgufType::kString, 1, raw<uint64_t>(9999)));
       },
       "'tokenizer.ggml.tokens' at byte"},
      {"part of a split model", [](File& f) { f.pairs[1] = pair("split.count", GgufType::kU16, raw<uint16_t>(2)); },
       "one part of a split", Code::kUnimplemented},
  };
  return kBad;
}

TEST(GgufDamage, EveryDamageIsNamed) {
  EXPECT_GE(bad_files().size(), 40u);
  for (const Bad& bad : bad_files()) {
    File file = good_file();
    bad.apply(file);
    const std::string bytes = file.build();
    const Status status = read_gguf(bytes_of(bytes), "bad.gguf").status();
    EXPECT_EQ(status.code(), bad.code) << bad.damage << ": " << status.to_string();
    EXPECT_NE(status.message().find(bad.message), std::string::npos) << bad.damage << ": " << status.to_string();
    EXPECT_NE(status.message().find("bad.gguf"), std::string::npos) << bad.damage << ": " << status.to_string();
  }
}

TEST(GgufDamage, EveryCutIsRefused) {
  const std::string bytes = good_file().build();
  const size_t padding = 160 - 64 - 68;  // behind the last tensor; may be missing
  for (size_t size = 0; size + padding < bytes.size(); ++size) {
    EXPECT_FALSE(read_gguf(bytes_of(std::string_view(bytes).substr(0, size)), "cut").ok()) << size;
  }
  EXPECT_TRUE(read_gguf(bytes_of(std::string_view(bytes).substr(0, bytes.size() - padding)), "cut").ok());
}

// No flip may crash; many are noticed, the others change a name or a value.
TEST(GgufDamage, EveryFlippedBitIsSurvived) {
  File file = good_file();
  vocabulary_pairs(file.pairs);
  const std::string bytes = file.build();
  for (size_t bit = 0; bit < (bytes.size() - 160) * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    auto opened = read_gguf(bytes_of(flipped), "flipped");
    if (opened.ok()) (void)(*opened)->prompt();
  }
}

struct BadVocabulary {
  std::string_view key;
  std::string pair;
  std::string_view message;
  Code code = Code::kDataLoss;
};

TEST(GgufDamage, VocabularyDamageIsNamed) {
  const std::vector<BadVocabulary> kBad = {
      {"tokenizer.ggml.model", pair("tokenizer.ggml.model", GgufType::kU8, "a"), "a string is expected"},
      {"tokenizer.ggml.model", pair("tokenizer.ggml.model", GgufType::kString, text("t5")), "'t5'", Code::kUnimplemented},
      {"tokenizer.ggml.pre", pair("tokenizer.ggml.pre", GgufType::kString, text("martian")), "'martian'", Code::kUnimplemented},
      {"tokenizer.ggml.pre", "", "'tokenizer.ggml.pre' is missing"},
      {"tokenizer.ggml.tokens", "", "'tokenizer.ggml.tokens' is missing"},
      {"tokenizer.ggml.tokens", pair("tokenizer.ggml.tokens", GgufType::kArray, array(GgufType::kString, 0, "")), "is empty"},
      {"tokenizer.ggml.tokens", pair("tokenizer.ggml.tokens", GgufType::kArray, array(GgufType::kU8, 1, "a")), "array of u8"},
      {"tokenizer.ggml.tokens", pair("tokenizer.ggml.tokens", GgufType::kArray, array(GgufType::kString, 1, text("\xFF"))),
       "element 0 is not valid UTF-8"},
      {"tokenizer.ggml.token_type", pair("tokenizer.ggml.token_type", GgufType::kArray, array(GgufType::kI32, 1, raw(1))),
       "has 1 elements for 4 tokens"},
      {"tokenizer.ggml.token_type",
       pair("tokenizer.ggml.token_type", GgufType::kArray, array(GgufType::kU8, 4, "\x01\x01\x01\x07")), "token 3 has the type 7"},
      {"tokenizer.ggml.merges", "", "'tokenizer.ggml.merges' is missing"},
      {"tokenizer.ggml.merges", pair("tokenizer.ggml.merges", GgufType::kArray, array(GgufType::kString, 1, text("ab"))),
       "element 0 is \"ab\""},
      {"tokenizer.ggml.merges", pair("tokenizer.ggml.merges", GgufType::kArray, array(GgufType::kString, 1, text(" a"))),
       "element 0"},
      {"tokenizer.ggml.eos_token_id", pair("tokenizer.ggml.eos_token_id", GgufType::kU32, raw(4u)), "is 4; an id below 4"},
      {"tokenizer.ggml.eos_token_id", pair("tokenizer.ggml.eos_token_id", GgufType::kString, text("3")), "an id below 4"},
      {"none", pair("tokenizer.ggml.add_bos_token", GgufType::kU8, "\x01"), "a bool is expected"},
  };
  for (const BadVocabulary& bad : kBad) {
    File file;
    file.data.clear();
    vocabulary_pairs(file.pairs);
    std::erase_if(file.pairs, [&](const std::string& p) { return p.substr(8).starts_with(std::string(bad.key)) && p.size() > 8; });
    if (!bad.pair.empty()) file.pairs.push_back(bad.pair);
    const std::string bytes = file.build();
    auto opened = read_gguf(bytes_of(bytes), "x");
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const Status status = (*opened)->tokenizer().status();
    EXPECT_EQ(status.code(), bad.code) << bad.message << ": " << status.to_string();
    EXPECT_NE(status.message().find(bad.message), std::string::npos) << bad.message << ": " << status.to_string();
  }
}

TEST(GgufSplit, PartsBecomeOneModel) {
  const auto part = [](uint16_t number, uint16_t count, const char* name) {
    File file;
    file.pairs = {pair("split.no", GgufType::kU16, raw(number)), pair("split.count", GgufType::kU16, raw(count)),
                  pair("split.tensors.count", GgufType::kI32, raw<int32_t>(2))};
    file.tensors = {tensor(name, {8}, kF32, 0)};
    file.data = std::string(32, name[0]);
    return file.build();
  };
  TempFolder folder;
  folder.write("m-00001-of-00002.gguf", part(0, 2, "a"));
  EXPECT_EQ(open_checkpoint(folder.path() / "m-00001-of-00002.gguf").status().code(), Code::kNotFound);
  folder.write("m-00002-of-00002.gguf", part(1, 2, "b"));
  auto opened = open_checkpoint(folder.path() / "m-00001-of-00002.gguf");
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->tensors().size(), 2u);
  EXPECT_EQ((*opened)->find("b")->view.bytes[0], std::byte{'b'});
  EXPECT_NE(open_checkpoint(folder.path() / "m-00002-of-00002.gguf").status().message().find("give the part"), std::string::npos);
  folder.write("m-00002-of-00002.gguf", part(1, 2, "a"));
  EXPECT_NE(open_checkpoint(folder.path() / "m-00001-of-00002.gguf").status().message().find("in two parts"), std::string::npos);
}

}  // namespace
}  // namespace camshaft::checkpoint
