#include "base/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace camshaft::base {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
std::string as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("mapped_file_test." + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  size_t num_files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

TEST_F(MappedFileTest, MapsTheWholeFileAndMoves) {
  Result<MappedFile> opened = MappedFile::open(write("a", "some bytes"));
  ASSERT_TRUE(opened.ok());
  MappedFile first = std::move(opened).value();
  MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());
  EXPECT_EQ(as_text(second.bytes()), "some bytes");
  EXPECT_EQ(second.path(), folder_ / "a");
}

TEST_F(MappedFileTest, EmptyFileIsAnEmptySpan) {
  Result<MappedFile> opened = MappedFile::open(write("empty", ""));
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->bytes().empty());
}

TEST_F(MappedFileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(folder_ / "absent").status().code(), Code::kNotFound);
  EXPECT_THAT(MappedFile::open(folder_).status().message(), HasSubstr("is a folder"));
  EXPECT_THAT(MappedFile::open(folder_ / "pipe").status().message(), HasSubstr("is a special file"));
  EXPECT_THAT(MappedFile::open("/dev/null").status().message(), HasSubstr("is a special file"));
}

TEST_F(MappedFileTest, DroppedPagesReadTheSameAgain) {
  const std::string text(3 * 65536 + 17, 'x');
  Result<MappedFile> opened = MappedFile::open(write("big", text));
  ASSERT_TRUE(opened.ok());
  opened->drop_pages(0, text.size());
  opened->drop_pages(5, 100);
  opened->drop_pages(text.size() + 10, 5);
  opened->drop_pages(65536, SIZE_MAX);
  EXPECT_EQ(as_text(opened->bytes()), text);
}

TEST_F(MappedFileTest, TextFileLimitIsInclusive) {
  const fs::path path = write("text", "12345");
  EXPECT_EQ(*read_text_file(path, 5), "12345");
  const Status status = read_text_file(path, 4).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("has 5 bytes, the limit is 4"));
}

TEST_F(MappedFileTest, CommittedFileReplacesTheOldOne) {
  const fs::path path = write("out", "old");
  Result<AtomicFileWriter> created = AtomicFileWriter::create(path);
  ASSERT_TRUE(created.ok());
  AtomicFileWriter writer = std::move(created).value();
  ASSERT_TRUE(writer.write(as_bytes("....body")).ok());
  ASSERT_TRUE(writer.write_at(0, as_bytes("head")).ok());
  EXPECT_EQ(writer.bytes_written(), 8u);
  EXPECT_EQ(*read_text_file(path, 100), "old");
  ASSERT_TRUE(writer.commit().ok());
  EXPECT_EQ(*read_text_file(path, 100), "headbody");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(MappedFileTest, WithoutCommitNothingStays) {
  const fs::path path = write("out", "old");
  {
    Result<AtomicFileWriter> writer = AtomicFileWriter::create(path);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->write(as_bytes("new")).ok());
    EXPECT_EQ(num_files(), 2u);
  }
  EXPECT_EQ(num_files(), 1u);
  EXPECT_EQ(*read_text_file(path, 100), "old");
}

TEST_F(MappedFileTest, LeftoverTemporaryFilesAndSecondWritersDoNotDisturb) {
  const fs::path leftover = write("out.tmp." + std::to_string(getpid()), "of a killed process");
  Result<AtomicFileWriter> first = AtomicFileWriter::create(folder_ / "out");
  Result<AtomicFileWriter> second = AtomicFileWriter::create(folder_ / "out");
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->write(as_bytes("1")).ok() && second->write(as_bytes("2")).ok());
  ASSERT_TRUE(first->commit().ok());
  ASSERT_TRUE(second->commit().ok());
  EXPECT_EQ(*read_text_file(folder_ / "out", 100), "2");
  EXPECT_EQ(*read_text_file(leftover, 100), "of a killed process");
}

TEST_F(MappedFileTest, WriterNamesWhatTheSystemRefused) {
  EXPECT_THAT(AtomicFileWriter::create(folder_).status().message(), HasSubstr("is a folder"));
  const Status status = AtomicFileWriter::create(folder_ / "no" / "such" / "folder").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("create it first"));
}

TEST_F(MappedFileTest, WriterTakesTheNameOfNothingButAFile) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  const std::string name = folder_ / "socket";
  ASSERT_LT(name.size(), sizeof(address.sun_path));
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(server);
  fs::create_symlink(write("target", "kept"), folder_ / "link");
  fs::create_symlink("absent", folder_ / "dangling");
  for (const char* each : {"pipe", "socket", "link", "dangling"}) {
    const auto before = fs::symlink_status(folder_ / each).type();
    const Status status = AtomicFileWriter::create(folder_ / each).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << each;
    EXPECT_THAT(status.message(), HasSubstr(std::string(each) + " is a ")) << each;
    EXPECT_EQ(fs::symlink_status(folder_ / each).type(), before) << each;
  }
  EXPECT_EQ(*read_text_file(folder_ / "target", 100), "kept");
}

// A file size limit stands for a full disk: the write past it is cut short, the next one fails.
TEST_F(MappedFileTest, AFailedWriteIsReportedAndLeavesTheOldFile) {
  const fs::path path = write("out", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  {
    Result<AtomicFileWriter> writer = AtomicFileWriter::create(path);
    ASSERT_TRUE(writer.ok());
    const Status status = writer->write(as_bytes(std::string(10'000, 'x')));
    EXPECT_EQ(status.code(), Code::kIo);
    EXPECT_THAT(status.message(), HasSubstr("cannot write 5904 bytes at 4096 of"));
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(num_files(), 1u);
  EXPECT_EQ(*read_text_file(path, 100), "old");
}

}  // namespace
}  // namespace camshaft::base
