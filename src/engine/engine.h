// Engine: the artefact. One file: a fixed header with per-section hashes, then sections (info, plan, tokenizer, prompt, constants).
// Bound to a target and refused elsewhere by name, with both values and the remedy. The same inputs give the same bytes.
//
// File layout (little-endian). Header, 4096 bytes: magic "CAMSHAFT", u32 format version, u32 section count, u64 file size,
// then per section {char name[16], u64 offset, u64 size, u64 hash low, u64 hash high}, and in its last 16 bytes the hash128 of all
// before them. Sections start at multiples of 4096, in ascending order, zero padding between. A section's hash is the hash128 over
// the hash128s of its 4 MiB chunks, so that chunks can be checked in parallel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/tokenizer_spec.h"
#include "base/mapped_file.h"
#include "base/status.h"
#include "device/device.h"
#include "engine/plan.h"

namespace camshaft::engine {

inline constexpr uint32_t kFormatVersion = 1;

// What the engine was made from and for. Checked field by field when it is loaded.
struct Fingerprint {
  std::string target;                 // "cpu"
  std::string isa;                    // class name: "avx512vnni"
  std::vector<std::string> features;  // CPU features that must be present
  std::string builder_version;        // Camshaft's version
  std::string source_hash;            // hex of the checkpoint's content hash
  std::string options;                // canonical text of the build options
};

struct ModelInfo {
  std::string name;  // the checkpoint's display name
  std::string family;
  std::string precision;  // "keep", "f32", ...
  int64_t parameters = 0;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t created_unix = 0;  // always 0 in the file (same inputs, same bytes); servers report their own start
};

// All small sections.
struct EngineMeta {
  Fingerprint fingerprint;
  ModelInfo model;
  Plan plan;
  api::TokenizerSpec tokenizer;  // tokens empty: the checkpoint had no vocabulary
  api::PromptSpec prompt;
};

// Writes under a temporary name, syncs, renames. Offsets of plan.constants are set here. `fill` is called for one entry after the
// other with exactly its bytes, zeroed.
using ConstantFiller = std::function<Status(const ConstantEntry& entry, std::span<std::byte> out)>;
// Returns the file's bytes.
Result<uint64_t> write_engine(const std::filesystem::path& path, EngineMeta meta, const ConstantFiller& fill);

enum class WeightsMode : uint8_t { kCopy, kMmap };

// What this machine offers, for load()'s checks.
struct Target {
  std::string target = "cpu";
  std::vector<std::string> features;
};

struct LoadOptions {
  Target machine;
  WeightsMode weights = WeightsMode::kCopy;  // kCopy: parallel read into a huge-page arena while hashes are checked
  int num_threads = 1;
};

class Engine {
 public:
  // Refuses (failed_precondition) another format version, target or a missing CPU feature with both values and the remedy; a cut or
  // flipped file is data_loss naming the section.
  static Result<std::unique_ptr<Engine>> load(const std::filesystem::path& path, const LoadOptions& options);
  // Header, info and plan only: for inspect on any machine (no target check, no constants read; hashes of what is read are
  // checked).
  static Result<std::unique_ptr<Engine>> open_meta(const std::filesystem::path& path);

  const EngineMeta& meta() const { return meta_; }
  // Bytes of one constant. Empty after open_meta().
  std::span<const std::byte> constant(int32_t index) const;
  uint64_t file_bytes() const { return file_bytes_; }

  // Parts as the reader made them; `constants` lies in one of the owners.
  struct Storage {
    device::Buffer arena;
    base::MappedFile mapping;
    std::span<const std::byte> constants;
  };
  Engine(EngineMeta meta, Storage storage, uint64_t file_bytes)
      : meta_(std::move(meta)), storage_(std::move(storage)), file_bytes_(file_bytes) {}

 private:
  EngineMeta meta_;
  Storage storage_;
  uint64_t file_bytes_ = 0;
};

// Whether a file begins with the engine's magic. Errors: the file cannot be read.
Result<bool> is_engine_file(const std::filesystem::path& path);

// Fuzz and test door: header and small sections over bytes, without a target check.
Result<EngineMeta> read_engine_meta(std::span<const std::byte> bytes);
// The refusal, or ok.
Status check_target(const Fingerprint& fingerprint, const Target& machine);

}  // namespace camshaft::engine
