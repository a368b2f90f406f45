#include "cli/model_id.h"

#include <gtest/gtest.h>

namespace camshaft::cli {
namespace {

TEST(ModelId, IsOfAFewCharactersAndNotLong) {
  for (const std::string& id : {std::string("a"), std::string("Llama-3.2_1B"), std::string("-"), std::string(128, 'x')}) {
    EXPECT_TRUE(check_model_id(id).ok()) << id;
  }
  for (const std::string& id : {std::string(), std::string("a b"), std::string("a\n"), std::string(".a"), std::string("a/b"),
                                std::string("\xc3\xa9"), std::string("a\0b", 3), std::string(129, 'x')}) {
    EXPECT_EQ(check_model_id(id).code(), Code::kInvalidArgument) << id;
  }
  EXPECT_NE(check_model_id(std::string(200, 'x')).message().find("200 bytes, at most 128"), std::string::npos);
}

TEST(ModelId, ACheckpointsNameIsMadeToFit) {
  const std::pair<std::string, std::string> cases[] = {
      {"Smollm2 135M 8k Lc100K Mix1 Ep2", "Smollm2-135M-8k-Lc100K-Mix1-Ep2"},
      {"tiny", "tiny"},
      {" a / b\n", "a-b"},
      {"..hidden", "hidden"},
      {"\xc3\xa9", "model"},
      {"", "model"},
      {std::string(200, 'x'), std::string(128, 'x')},
  };
  for (const auto& [name, id] : cases) {
    EXPECT_EQ(model_id_of(name), id);
    EXPECT_TRUE(check_model_id(model_id_of(name)).ok()) << name;
  }
}

}  // namespace
}  // namespace camshaft::cli
