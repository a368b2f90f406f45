// Safetensors files and folders built in code: what is read, and what each damage is called.
#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/test_files.h"

namespace camshaft::checkpoint {
namespace {

std::string file_of(std::string_view header, std::string_view data) { return Bytes().string(header).text(data).str(); }

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, uint64_t begin, uint64_t end) {
  return format("\"{}\":{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}", name, dtype, shape, begin, end);
}

const std::string kData(32, 'x');
// a: 2 x 2 floats (16 bytes); b: 8 halves (16 bytes).
std::string good_header() {
  return "{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "F16", "[8]", 16, 32) + "," + entry("a", "F32", "[2,2]", 0, 16) +
         "}  ";
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirData) {
  const std::string bytes = file_of(good_header(), kData);
  auto tensors = read_safetensors_header(bytes_of(bytes), "good");
  ASSERT_TRUE(tensors.ok()) << tensors.status().to_string();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].view.shape, (tensor::Shape{2, 2}));
  EXPECT_EQ((*tensors)[1].view.format, tensor::Format::kF16);
  EXPECT_EQ((*tensors)[1].view.bytes.size(), 16u);
}

TEST(Safetensors, EveryDtypeIsAView) {
  struct Case {
    std::string_view dtype;
    uint64_t size;
  };
  for (const Case& c : {Case{"BOOL", 1},
                        {"U8", 1},
                        {"I8", 1},
                        {"F8_E4M3", 1},
                        {"F8_E5M2", 1},
                        {"I16", 2},
                        {"U16", 2},
                        {"F16", 2},
                        {"BF16", 2},
                        {"I32", 4},
                        {"U32", 4},
                        {"F32", 4},
                        {"F64", 8},
                        {"I64", 8},
                        {"U64", 8}}) {
    const std::string bytes = file_of("{" + entry("t", c.dtype, "[3]", 0, 3 * c.size) + "}", std::string(3 * c.size, '\0'));
    auto tensors = read_safetensors_header(bytes_of(bytes), "x");
    ASSERT_TRUE(tensors.ok()) << tensors.status().to_string();
    EXPECT_EQ(tensor::format_bytes((*tensors)[0].view.format, 3), static_cast<int64_t>(3 * c.size));
  }
}

TEST(Safetensors, EmptyTensorsAndScalars) {
  const std::string bytes =
      file_of("{" + entry("empty", "F32", "[0,4]", 0, 0) + "," + entry("one", "F32", "[]", 0, 4) + "}", "xxxx");
  auto tensors = read_safetensors_header(bytes_of(bytes), "x");
  ASSERT_TRUE(tensors.ok()) << tensors.status().to_string();
  EXPECT_EQ(read_safetensors_header(bytes_of(file_of("{}", "")), "x")->size(), 0u);
}

struct Bad {
  std::string_view damage;
  std::string bytes;
  std::string_view message;
  Code code = Code::kDataLoss;
};

std::string with_a(std::string_view dtype, std::string_view shape, std::string_view offsets, std::string_view more = "") {
  return file_of(format("{{\"a\":{{\"dtype\":{},\"shape\":{},\"data_offsets\":{}{}}}}}", dtype, shape, offsets, more), kData);
}
std::string two(const std::string& a, const std::string& b) { return file_of("{" + a + "," + b + "}", kData); }

std::vector<Bad> bad_files() {
  const auto size = [](uint64_t length, std::string_view rest) { return Bytes().put(length).text(rest).str(); };
  const std::string deep = "{\"a\":" + std::string(20, '[') + std::string(20, ']') + "}";
  return {
      {"empty file", "", "is empty"},
      {"cut in the length", std::string(3, '\0'), "'header length' at byte 0 needs 8 bytes, 3 are left"},
      {"cut in the header", size(100, "{}"), "'header' at byte 8 needs 100 bytes, 2 are left"},
      {"header past the limit", size((64 << 20) + 1, "{}"), "67108865 bytes, the limit is 67108864", Code::kResourceExhausted},
      {"header of 2^64-1", size(UINT64_MAX, "{}"), "the limit is", Code::kResourceExhausted},
      {"header of 2^63", size(uint64_t{1} << 63, "{}"), "the limit is", Code::kResourceExhausted},
      {"empty header", size(0, ""), "does not begin with '{'"},
      {"header with a blank in front", file_of(" {}", ""), "does not begin with '{'"},
      {"header is an array", file_of("[]", ""), "does not begin with '{'"},
      {"a pickle", std::string("\x80\x04\x95\x10\x00\x00\x00\x00pickled data", 20), "the limit is", Code::kResourceExhausted},
      {"broken JSON", file_of("{\"a\":", ""), "JSON, line 1", Code::kInvalidArgument},
      {"two JSON values", file_of("{}{}", ""), "JSON, line 1", Code::kInvalidArgument},
      {"JSON not UTF-8", file_of("{\"\xFF\":1}", ""), "UTF-8", Code::kInvalidArgument},
      {"JSON too deep", file_of(deep, ""), "nested deeper", Code::kResourceExhausted},
      {"name twice", two(entry("a", "F32", "[4]", 0, 16), entry("a", "F32", "[4]", 16, 32)), "\"a\" appears twice",
       Code::kInvalidArgument},
      {"metadata no object", file_of("{\"__metadata__\":[]}", ""), "__metadata__ is of type array"},
      {"metadata of numbers", file_of("{\"__metadata__\":{\"k\":1}}", ""), "member 'k' is of type integer"},
      {"empty name", file_of("{" + entry("", "F32", "[8]", 0, 32) + "}", kData), "tensor 0 has an empty name"},
      {"name too long", file_of("{" + entry(std::string(513, 'n'), "F32", "[8]", 0, 32) + "}", kData), "the limit is 512",
       Code::kResourceExhausted},
      {"entry is a number", file_of("{\"a\":1}", kData), "'a': its description is of type integer"},
      {"no dtype", file_of(R"({"a":{"shape":[8],"data_offsets":[0,32]}})", kData), "lacks 'dtype'"},
      {"no shape", file_of(R"({"a":{"dtype":"F32","data_offsets":[0,32]}})", kData), "lacks 'shape'"},
      {"no offsets", file_of(R"({"a":{"dtype":"F32","shape":[8]}})", kData), "lacks 'data_offsets'"},
      {"unknown member", with_a("\"F32\"", "[8]", "[0,32]", ",\"url\":\"x\""), "unknown member 'url'"},
      {"dtype a number", with_a("7", "[8]", "[0,32]"), "dtype is of type integer"},
      {"unknown dtype", with_a("\"F31\"", "[8]", "[0,32]"), "dtype 'F31' is not supported", Code::kUnimplemented},
      {"lower-case dtype", with_a("\"f32\"", "[8]", "[0,32]"), "dtype 'f32' is not supported", Code::kUnimplemented},
      {"packed dtype", with_a("\"F4\"", "[8]", "[0,4]"), "dtype 'F4' is not supported", Code::kUnimplemented},
      {"shape a number", with_a("\"F32\"", "8", "[0,32]"), "shape is of type integer"},
      {"shape negative", with_a("\"F32\"", "[-8]", "[0,32]"), "shape holds -8"},
      {"shape of fractions", with_a("\"F32\"", "[8.0]", "[0,32]"), "whole numbers from 0"},
      {"shape of strings", with_a("\"F32\"", "[\"8\"]", "[0,32]"), "shape holds \"8\""},
      {"extent past 2^63", with_a("\"F32\"", "[9223372036854775808]", "[0,32]"), "shape holds 9223372036854775808"},
      {"rank 9", with_a("\"F32\"", "[8,1,1,1,1,1,1,1,1]", "[0,32]"), "9 dimensions, the limit is 8", Code::kResourceExhausted},
      {"product past 64 bits", with_a("\"F32\"", "[4294967296,4294967296]", "[0,32]"), "more elements than 64 bits",
       Code::kInvalidArgument},
      {"bytes past 64 bits", with_a("\"F32\"", "[4611686018427387904]", "[0,32]"), "more bytes than 64 bits"},
      {"offsets an object", with_a("\"F32\"", "[8]", "{}"), "data_offsets must be an array of two"},
      {"one offset", with_a("\"F32\"", "[8]", "[0]"), "data_offsets must be an array of two"},
      {"three offsets", with_a("\"F32\"", "[8]", "[0,32,32]"), "data_offsets must be an array of two"},
      {"offset negative", with_a("\"F32\"", "[8]", "[-1,31]"), "data_offsets are [-1,31]"},
      {"offsets turned round", with_a("\"F32\"", "[8]", "[32,0]"), "data_offsets are [32,0]"},
      {"offset a fraction", with_a("\"F32\"", "[8]", "[0,32.0]"), "whole numbers with 0 <= begin <= end"},
      {"size too small", with_a("\"F32\"", "[8]", "[0,28]"), "make 32 bytes, data_offsets span 28"},
      {"size too large", with_a("\"F16\"", "[8]", "[0,32]"), "make 16 bytes, data_offsets span 32"},
      {"past the end", with_a("\"F32\"", "[16]", "[0,64]"), "takes bytes 0 to 64 of the data, but only 32 are there"},
      {"far past the end", with_a("\"F32\"", "[8]", "[9223372036854775775,9223372036854775807]"), "but only 32 are there"},
      {"gap in front", file_of("{" + entry("a", "F32", "[4]", 16, 32) + "}", kData),
       "bytes 0 to 16 of the data, before tensor 'a'"},
      {"gap between", two(entry("a", "F32", "[2]", 0, 8), entry("b", "F32", "[4]", 16, 32)), "bytes 8 to 16 of the data"},
      {"bytes behind", file_of("{" + entry("a", "F32", "[4]", 0, 16) + "}", kData), "bytes 16 to 32 at the end"},
      {"overlap", two(entry("a", "F32", "[5]", 0, 20), entry("b", "F32", "[4]", 16, 32)), "tensors 'a' and 'b' overlap"},
      {"same bytes", two(entry("a", "F32", "[8]", 0, 32), entry("b", "F32", "[8]", 0, 32)), "overlap"},
  };
}

TEST(SafetensorsDamage, EveryDamageIsNamed) {
  EXPECT_GE(bad_files().size(), 40u);
  for (const Bad& bad : bad_files()) {
    const Status status = read_safetensors_header(bytes_of(bad.bytes), "bad.st").status();
    EXPECT_EQ(status.code(), bad.code) << bad.damage << ": " << status.to_string();
    EXPECT_NE(status.message().find(bad.message), std::string::npos) << bad.damage << ": " << status.to_string();
    EXPECT_NE(status.message().find("bad.st"), std::string::npos) << bad.damage << ": " << status.to_string();
  }
}

TEST(SafetensorsDamage, EveryCutIsRefused) {
  const std::string bytes = file_of(good_header(), kData);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read_safetensors_header(bytes_of(std::string_view(bytes).substr(0, size)), "cut").ok()) << size;
  }
}

TEST(SafetensorsDamage, EveryFlippedBitIsSurvived) {
  const std::string bytes = file_of(good_header(), kData);
  for (size_t bit = 0; bit < (bytes.size() - kData.size()) * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    (void)read_safetensors_header(bytes_of(flipped), "flipped");
  }
}

class Folders : public testing::Test {
 protected:
  void SetUp() override { folder_.write("config.json", R"({"model_type":"llama","_name_or_path":"org/tiny"})"); }
  void shards(std::string_view index) { folder_.write("model.safetensors.index.json", index); }
  void shard(const std::string& name, std::string_view tensor) {
    folder_.write(name, file_of("{" + entry(tensor, "F32", "[1]", 0, 4) + "}", "abcd"));
  }
  std::string failure() { return open_checkpoint(folder_.path()).status().to_string(); }
  TempFolder folder_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Folders, SingleFile) {
  folder_.write("model.safetensors", file_of(good_header(), kData));
  for (const auto& path : {folder_.path(), folder_.path() / "model.safetensors"}) {
    auto opened = open_checkpoint(path);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ((*opened)->source(), Source::kSafetensors);
    EXPECT_EQ((*opened)->name(), "org/tiny");
    EXPECT_EQ((*opened)->config().find("model_type")->as_string(), "llama");
    EXPECT_NE((*opened)->find("a"), nullptr);
    EXPECT_TRUE((*opened)->tokenizer()->tokens.empty());
  }
}

TEST_F(Folders, ContentHashCoversSideFiles) {
  folder_.write("model.safetensors", file_of(good_header(), kData));
  const auto first = (*open_checkpoint(folder_.path()))->content_hash();
  EXPECT_EQ((*open_checkpoint(folder_.path()))->content_hash(), first);
  folder_.write("generation_config.json", R"({"temperature":0.5})");
  EXPECT_NE((*open_checkpoint(folder_.path()))->content_hash(), first);
}

TEST_F(Folders, Shards) {
  shards(R"({"metadata":{"total_size":8},"weight_map":{"x":"m-1.safetensors","y":"m-2.safetensors"}})");
  shard("m-1.safetensors", "x");
  EXPECT_HAS(failure(), "m-2.safetensors: no such file");
  shard("m-2.safetensors", "y");
  auto opened = open_checkpoint(folder_.path());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->tensors().size(), 2u);
  (*opened)->drop_pages((*opened)->tensors()[1]);
  EXPECT_EQ((*opened)->tensors()[1].view.bytes[0], std::byte{'a'});
}

TEST_F(Folders, IndexAndShardsMustAgree) {
  shards(R"({"weight_map":{"x":"m-1.safetensors","y":"m-1.safetensors"}})");
  shard("m-1.safetensors", "x");
  EXPECT_HAS(failure(), "tensor 'y' is missing from m-1.safetensors");
  shards(R"({"weight_map":{"z":"m-1.safetensors"}})");
  EXPECT_HAS(failure(), "tensor 'x' is not in the index");
  shards(R"({"weight_map":{"x":"m-1.safetensors","y":"m-2.safetensors"}})");
  shard("m-2.safetensors", "x");
  EXPECT_HAS(failure(), "tensor 'x' is defined twice");
  shards(R"({"weight_map":{"x":7}})");
  EXPECT_HAS(failure(), "weight_map of 'x' is of type integer");
  shards("{}");
  EXPECT_HAS(failure(), "'weight_map' is missing");
  shards("[]");
  EXPECT_HAS(failure(), "an object is expected");
}

TEST_F(Folders, NamesStayInTheFolder) {
  TempFolder outside;
  outside.write("m.safetensors", file_of("{" + entry("x", "F32", "[1]", 0, 4) + "}", "abcd"));
  for (const std::string& name : {std::string("../m.safetensors"), (outside.path() / "m.safetensors").native(), std::string(".."),
                                  std::string(""), std::string("sub/m.safetensors")}) {
    shards("{\"weight_map\":{\"x\":\"" + name + "\"}}");
    EXPECT_HAS(failure(), "is no plain file name");
  }
  std::filesystem::create_symlink(outside.path() / "m.safetensors", folder_.path() / "link.safetensors");
  shards(R"({"weight_map":{"x":"link.safetensors"}})");
  EXPECT_HAS(failure(), "symbolic link that leads out of its folder");
  std::filesystem::create_directory(folder_.path() / "dir.safetensors");
  shards(R"({"weight_map":{"x":"dir.safetensors"}})");
  EXPECT_HAS(failure(), "is a folder, a file is expected");
  std::filesystem::create_symlink("loop.safetensors", folder_.path() / "loop.safetensors");
  shards(R"({"weight_map":{"x":"loop.safetensors"}})");
  EXPECT_HAS(failure(), "symbolic links");
  shard("real.safetensors", "x");
  std::filesystem::create_symlink("real.safetensors", folder_.path() / "inside.safetensors");
  shards(R"({"weight_map":{"x":"inside.safetensors"}})");
  EXPECT_TRUE(open_checkpoint(folder_.path()).ok()) << failure();
}

TEST_F(Folders, WhichFileIsTheModel) {
  EXPECT_HAS(failure(), "has no weights");
  shard("one.safetensors", "x");
  EXPECT_TRUE(open_checkpoint(folder_.path()).ok());
  shard("two.safetensors", "y");
  EXPECT_HAS(failure(), "has 2 .safetensors files");
  auto opened = open_checkpoint(folder_.path() / "two.safetensors");
  ASSERT_TRUE(opened.ok());
  EXPECT_NE((*opened)->find("y"), nullptr);
}

TEST_F(Folders, BadSideFilesAreNamed) {
  shard("model.safetensors", "x");
  folder_.write("config.json", "{\"a\":1,}");
  EXPECT_HAS(failure(), "config.json");
  folder_.write("config.json", "[]");
  EXPECT_HAS(failure(), "an object is expected");
  folder_.write("config.json", "{}");
  folder_.write("generation_config.json", R"({"temperature":"hot"})");
  EXPECT_HAS((*open_checkpoint(folder_.path()))->prompt().status().to_string(), "'temperature' is of type string");
  folder_.write("generation_config.json", R"({"top_p":1.5})");
  EXPECT_HAS((*open_checkpoint(folder_.path()))->prompt().status().to_string(), "'top_p' is 1.5");
}

TEST_F(Folders, TemplatesAndDefaults) {
  shard("model.safetensors", "x");
  folder_.write("generation_config.json", R"({"temperature":0.6,"top_p":0.9,"top_k":40,"min_p":null,"repetition_penalty":1.1})");
  folder_.write("tokenizer_config.json",
                R"({"bos_token":{"content":"<s>"},"eos_token":"</s>","chat_template":[{"name":"default","template":"D"},)"
                R"({"name":"tool_use","template":"T"}]})");
  auto prompt = (*open_checkpoint(folder_.path()))->prompt();
  ASSERT_TRUE(prompt.ok()) << prompt.status().to_string();
  EXPECT_EQ(prompt->chat_template, "D");
  EXPECT_EQ(prompt->named_templates, (std::vector<std::pair<std::string, std::string>>{{"tool_use", "T"}}));
  EXPECT_EQ(prompt->bos_token, "<s>");
  EXPECT_EQ(prompt->temperature, 0.6);
  EXPECT_EQ(prompt->top_k, 40);
  EXPECT_FALSE(prompt->min_p.has_value());
  folder_.write("chat_template.json", R"({"chat_template":"J"})");
  EXPECT_EQ((*open_checkpoint(folder_.path()))->prompt()->chat_template, "J");
  folder_.write("chat_template.jinja", "X");
  EXPECT_EQ((*open_checkpoint(folder_.path()))->prompt()->chat_template, "X");
}

}  // namespace
}  // namespace camshaft::checkpoint
