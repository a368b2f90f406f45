// Speed of the GEMM kernels: GB/s of weights for few rows, GOP/s for many, beside what the machine gives to plain reads and to
// register-only dot products in the same run.
//
//   gemm_bench [--isa NAME] [--threads N] [--filter TEXT] [--rows 1,8,32,512] [--repeats N] [--cold-mb N] [--clock wall|cpu]
//              [--shapes NxK,NxK]
//
// "hot" repeats one matrix (in the caches when it fits), "cold" goes through copies of it that together fill --cold-mb. Times are
// the least of the repeats, since other processes only add. On a machine that others use too, `--threads 1 --clock cpu` counts the
// thread's own time: fair for what is bound by the core, not for memory.
#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "device/device.h"
#include "kernels/cpu/gemm/gemm.h"

namespace camshaft {
namespace {

using kernels::KernelInfo;
using ops::GemmDesc;

struct Settings {
  kernels::Isa isa = kernels::detect_isa();
  int threads = 2;
  std::string filter;
  std::vector<int64_t> rows = {1, 2, 4, 8, 16, 32, 512};
  int repeats = 7;
  int64_t cold_bytes = int64_t{600} << 20;
  clockid_t clock = CLOCK_MONOTONIC;
  std::vector<std::pair<int64_t, int64_t>> shapes = {{960, 576}, {576, 576}, {3072, 576}, {576, 1536}, {49152, 576}};  // n, k
};

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Least seconds of one job(worker) over all workers.
template <typename Job>
double least_time(base::ThreadPool& pool, const Settings& settings, Job job) {
  double least = 1e9;
  for (int i = 0; i < settings.repeats; ++i) {
    double begin = 0, end = 0;
    auto work = [&](int worker) {
      pool.barrier();
      if (worker == 0) begin = seconds(settings.clock);
      job(worker);
      pool.barrier();
      if (worker == 0) end = seconds(settings.clock);
    };
    pool.run(work);
    least = std::min(least, end - begin);
  }
  return least;
}

__attribute__((target("avx2"))) int64_t read_all(const std::byte* data, int64_t bytes) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (const std::byte* end = data + bytes; data < end; data += 128) {
    const auto* from = reinterpret_cast<const __m256i*>(data);
    _mm_prefetch(reinterpret_cast<const char*>(data) + 4096, _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(data) + 4160, _MM_HINT_T0);
    a = _mm256_xor_si256(a, _mm256_load_si256(from));
    b = _mm256_xor_si256(b, _mm256_load_si256(from + 1));
    c = _mm256_xor_si256(c, _mm256_load_si256(from + 2));
    d = _mm256_xor_si256(d, _mm256_load_si256(from + 3));
  }
  return _mm256_extract_epi64(_mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d)), 0);
}

constexpr int64_t kPeakRounds = 2000000;

__attribute__((target("avx512f,avx512vnni"))) int64_t vnni_rounds() {
  __m512i acc[12], w = _mm512_set1_epi8(3);
  for (int i = 0; i < 12; ++i) acc[i] = _mm512_set1_epi32(i);
  for (int64_t n = 0; n < kPeakRounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) acc[i] = _mm512_dpbusd_epi32(acc[i], w, w);
    asm volatile("" : "+v"(w));
  }
  __m512i sum = acc[0];
  for (int i = 1; i < 12; ++i) sum = _mm512_add_epi32(sum, acc[i]);
  return _mm_cvtsi128_si32(_mm512_castsi512_si128(sum));
}

__attribute__((target("avx2,fma"))) int64_t fma_rounds() {
  __m256 acc[12], w = _mm256_set1_ps(0.5f);
  for (int i = 0; i < 12; ++i) acc[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t n = 0; n < kPeakRounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) acc[i] = _mm256_fmadd_ps(acc[i], w, w);
    asm volatile("" : "+x"(w));
  }
  __m256 sum = acc[0];
  for (int i = 1; i < 12; ++i) sum = _mm256_add_ps(sum, acc[i]);
  return static_cast<int64_t>(_mm256_cvtss_f32(sum));
}

void print_ceilings(base::ThreadPool& pool, const Settings& settings) {
  volatile int64_t sink = 0;
  for (int64_t mb : {2, 96, 600}) {
    const int64_t bytes = mb << 20;
    auto buffer = device::allocate_host(static_cast<size_t>(bytes));
    if (!buffer.ok()) continue;
    memset(buffer->data(), 1, static_cast<size_t>(bytes));
    const double time = least_time(pool, settings, [&](int worker) {
      const base::WorkRange part = base::work_share(bytes, 4096, worker, pool.num_threads());
      sink = read_all(buffer->data() + part.begin, part.end - part.begin);
    });
    printf("read %4d MiB: %.1f GB/s\n", static_cast<int>(mb), static_cast<double>(bytes) / time / 1e9);
  }
  const double ops = static_cast<double>(kPeakRounds) * 12 * pool.num_threads() * 1e-9;
  if (kernels::detect_isa() >= kernels::Isa::kAvx512Vnni) {
    const double time = least_time(pool, settings, [&](int) { sink = vnni_rounds(); });
    printf("vpdpbusd, registers only: %.0f GOP/s\n", ops * 128 / time);
  }
  const double time = least_time(pool, settings, [&](int) { sink = fma_rounds(); });
  printf("f32 fma of 256 bits, registers only: %.0f GOP/s\n", ops * 16 / time);
}

// Packed random weights, repeated until they fill `bytes` (at least once).
struct Matrix {
  device::Buffer data;
  int64_t bytes = 0;
  int64_t copies = 0;
};

Matrix make_matrix(const kernels::WeightLayout& layout, const GemmDesc& desc, int64_t fill) {
  const tensor::FormatInfo& format = tensor::format_info(desc.weight);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  std::vector<float> values(static_cast<size_t>(layout.row_group * desc.k));
  for (float& value : values) value = normal(random);
  const int64_t row_bytes = tensor::format_bytes(desc.weight, desc.k), groups = (desc.n + layout.row_group - 1) / layout.row_group;
  std::vector<std::byte> rows(static_cast<size_t>(layout.row_group * row_bytes));
  format.pack(values.data(), rows.data(), layout.row_group * desc.k);
  std::vector<const std::byte*> pointers;
  for (int64_t i = 0; i < layout.row_group; ++i) pointers.push_back(rows.data() + i * row_bytes);
  Matrix matrix;
  matrix.bytes = groups * layout.group_bytes(desc.k);
  matrix.copies = std::max<int64_t>(1, fill / matrix.bytes);
  matrix.data = std::move(device::allocate_host(static_cast<size_t>(matrix.bytes * matrix.copies))).value();
  layout.pack_group(pointers.data(), desc.k, matrix.data.data());
  for (int64_t g = 1; g < groups * matrix.copies; ++g) {
    memcpy(matrix.data.data() + g * layout.group_bytes(desc.k), matrix.data.data(),
           static_cast<size_t>(layout.group_bytes(desc.k)));
  }
  return matrix;
}

struct Case {
  const KernelInfo* kernel;
  GemmDesc desc;
  int64_t rows;
};

// Seconds a call, over `calls` calls that walk through the copies.
double call_time(base::ThreadPool& pool, const Settings& settings, const Case& c, const Matrix& matrix, int64_t calls) {
  const ops::OpDesc op = c.desc;
  const kernels::Caps caps{.isa = settings.isa};
  const kernels::RunContext context{.desc = &op, .caps = &caps, .layout = c.kernel->weight_layout(op)};
  std::vector<float> x(static_cast<size_t>(c.rows * c.desc.k)), y(static_cast<size_t>(c.rows * c.desc.n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 251) * 0.01f - 1.0f;
  auto workspace =
      std::move(device::allocate_host(static_cast<size_t>(c.kernel->workspace_bytes(op, caps, c.rows, pool.num_threads()))))
          .value();
  const double time = least_time(pool, settings, [&](int worker) {
    for (int64_t i = 0; i < calls; ++i) {
      const kernels::TensorArg in[] = {{x.data(), c.desc.k}, {matrix.data.data() + i % matrix.copies * matrix.bytes, 0}};
      const kernels::TensorArg out[] = {{y.data(), c.desc.n}};
      c.kernel->run({worker, pool.num_threads(), &pool}, context,
                    {.rows = c.rows, .in = in, .out = out, .workspace = workspace.data()});
      pool.barrier();
    }
  });
  return time / static_cast<double>(calls);
}

void print_case(base::ThreadPool& pool, const Settings& settings, const Case& c, const Matrix& hot, const Matrix& cold) {
  const double ops = 2.0 * static_cast<double>(c.rows * c.desc.n * c.desc.k);
  // About 5 ms a repeat, as far as one can tell beforehand.
  const auto calls = std::max<int64_t>(1, std::min<int64_t>(static_cast<int64_t>(2e9 / ops), cold.copies));
  const double warm = call_time(pool, settings, c, hot, std::max<int64_t>(1, std::min<int64_t>(calls, 200)));
  const double fresh = call_time(pool, settings, c, cold, calls);
  const double bytes = static_cast<double>(hot.bytes);
  printf("%-32s %6d %5d %5d | hot %9.1f us %6.1f GB/s %7.0f GOP/s | cold %9.1f us %6.1f GB/s %7.0f GOP/s\n",
         std::string(c.kernel->name).c_str(), static_cast<int>(c.desc.n), static_cast<int>(c.desc.k), static_cast<int>(c.rows),
         warm * 1e6, bytes / warm / 1e9, ops / warm / 1e9, fresh * 1e6, bytes / fresh / 1e9, ops / fresh / 1e9);
  fflush(stdout);
}

// The first description of this shape that the kernel takes.
bool describe(const KernelInfo& kernel, const Settings& settings, int64_t n, int64_t k, GemmDesc* desc) {
  using tensor::Format;
  for (Format weight : {Format::kI4B32M, Format::kI8B32, Format::kBF16, Format::kF16, Format::kF32}) {
    for (ops::ActivationType activation :
         {ops::ActivationType::kI8B32, ops::ActivationType::kI16B32, ops::ActivationType::kBF16, ops::ActivationType::kF32}) {
      *desc = {.n = n, .k = k, .weight = weight, .activation = activation};
      if (kernel.supports(*desc, {.isa = settings.isa}).yes) return true;
    }
  }
  return false;
}

void print_kernel(base::ThreadPool& pool, const Settings& settings, const KernelInfo& kernel, int64_t n, int64_t k) {
  GemmDesc desc;
  if (!describe(kernel, settings, n, k, &desc)) return;
  const kernels::WeightLayout& layout = *kernel.weight_layout(desc);
  const Matrix hot = make_matrix(layout, desc, 0), cold = make_matrix(layout, desc, settings.cold_bytes);
  for (int64_t rows : settings.rows) print_case(pool, settings, {&kernel, desc, rows}, hot, cold);
}

std::vector<int64_t> parse_list(const char* text) {
  std::vector<int64_t> values;
  for (char* end = nullptr; *text != 0; text = *end == ',' ? end + 1 : end) {
    values.push_back(strtoll(text, &end, 10));
    if (end == text) exit(2);
  }
  return values;
}

std::vector<std::pair<int64_t, int64_t>> parse_shapes(std::string text) {
  std::replace(text.begin(), text.end(), 'x', ',');
  const std::vector<int64_t> numbers = parse_list(text.c_str());
  std::vector<std::pair<int64_t, int64_t>> shapes;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) shapes.emplace_back(numbers[i], numbers[i + 1]);
  return shapes;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--isa") settings.isa = kernels::parse_isa(value).value();
    if (name == "--threads") settings.threads = atoi(value.c_str());
    if (name == "--filter") settings.filter = value;
    if (name == "--rows") settings.rows = parse_list(value.c_str());
    if (name == "--shapes") settings.shapes = parse_shapes(value);
    if (name == "--repeats") settings.repeats = atoi(value.c_str());
    if (name == "--clock") settings.clock = value == "cpu" ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    if (name == "--cold-mb") settings.cold_bytes = int64_t{atoi(value.c_str())} << 20;
  }
  return settings;
}

void run(const Settings& settings) {
  base::ThreadPool pool(settings.threads, base::Pinning::kPin);
  print_ceilings(pool, settings);
  printf("%-32s %6s %5s %5s\n", "kernel", "n", "k", "rows");
  for (const KernelInfo& kernel : kernels::gemm_kernels()) {
    if (kernel.name.find(settings.filter) == std::string_view::npos) continue;
    for (const auto& [n, k] : settings.shapes) {
      print_kernel(pool, settings, kernel, n, k);
    }
  }
}

}  // namespace
}  // namespace camshaft

int main(int argc, char** argv) { camshaft::run(camshaft::parse(argc, argv)); }
