#!/usr/bin/env python3
"""Plants forbidden includes in a small tree and expects each to be caught, and the clean tree to pass."""
import contextlib
import io
import os
import tempfile
import unittest

import check_rooms

ROOMS = "base:\napi: base\nkernels: base\nruntime: kernels api base\nexecutor: runtime api base\ngeneration: executor api base\ncli: *\n"
CLEAN = {
    "ROOMS": ROOMS,
    "base/status.h": "#include <string>\n",
    "api/request.h": '#include "base/status.h"\n',
    "runtime/model_runner.h": '#include "api/request.h"\n',
    "runtime/plan_runner.h": '#include "kernels/kernel.h"\n',
    "kernels/kernel.h": '#include "base/status.h"\n',
    "executor/executor.h": '#include "api/request.h"\n',
    "executor/batching.h": '#include "runtime/model_runner.h"\n',
    "generation/generation.h": '#include "executor/executor.h"\n',
    "kernels/cpu/gemm_avx2.cc": '#include <immintrin.h>\n#include "kernels/cpu/micro.inl.h"\n',
    "kernels/cpu/micro.inl.h": "#include <cstdint>\n",
    "cli/main.cc": '#include "generation/generation.h"\n#include "kernels/kernel.h"\n',
}


class CheckRoomsTest(unittest.TestCase):
    def errors(self, planted=None):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **(planted or {})}.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return check_rooms.check(folder)[1]

    def assert_one(self, planted, *words):
        errors = self.errors(planted)
        self.assertEqual(len(errors), 1, errors)
        for word in words:
            self.assertIn(word, errors[0])

    def test_clean_tree_passes(self):
        self.assertEqual(self.errors(), [])

    def test_direct_include(self):
        self.assert_one({"api/bad.h": '#include "kernels/kernel.h"\n'}, "room 'api' may not see room 'kernels'", "api/bad.h -> kernels/kernel.h")

    def test_spaces_do_not_hide_an_include(self):
        self.assert_one({"api/bad.h": '  #  include  "kernels/kernel.h"\n'}, "kernels")

    def test_forbidden_room_behind_an_allowed_header(self):
        planted = {"generation/generation.h": '#include "executor/batching.h"\n', "cli/main.cc": ""}
        self.assert_one(planted, "generation/generation.h -> executor/batching.h -> runtime/model_runner.h")

    def test_tests_count_as_their_room(self):
        self.assert_one({"base/status_test.cc": '#include "api/request.h"\n'}, "room 'base'", "room 'api'")

    def test_a_wrong_edge_is_reported_once(self):
        self.assert_one({"base/status.h": '#include "kernels/other.h"\n', "kernels/other.h": ""}, "base/status.h")

    def test_relative_include_is_followed(self):
        self.assert_one({"api/bad.h": '#include "../kernels/kernel.h"\n'}, "kernels/kernel.h")

    def test_narrow_door(self):
        self.assert_one({"executor/executor.h": '#include "runtime/model_runner.h"\n', "generation/generation.h": ""}, "narrow door")

    def test_missing_header(self):
        self.assert_one({"cli/main.cc": '#include "base/nothing.h"\n'}, "does not exist")

    def test_file_outside_the_rooms(self):
        self.assert_one({"utils/helper.h": ""}, "lies in no room")

    def test_isa_file_with_ordinary_header(self):
        self.assert_one({"kernels/cpu/gemm_avx2.cc": '#include "base/status.h"\n', "base/status.h": ""}, "ordinary header")

    def test_isa_file_with_ordinary_header_behind_an_inl(self):
        planted = {"kernels/cpu/micro.inl.h": '#include "base/status.h"\n', "base/status.h": ""}
        self.assert_one(planted, "gemm_avx2.cc -> kernels/cpu/micro.inl.h -> base/status.h")

    def test_isa_file_with_library_header(self):
        self.assert_one({"kernels/cpu/micro.inl.h": "#include <algorithm>\n"}, "<algorithm>")

    def test_table_with_a_circle(self):
        with self.assertRaises(check_rooms.TableError):
            self.errors({"ROOMS": "base: api\napi: base\n"})

    def test_exit_codes(self):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_rooms.main(["/nonexistent"]), 2)


if __name__ == "__main__":
    unittest.main()
