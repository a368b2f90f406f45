#!/usr/bin/env python3
"""End to end on a built binary: build, run, serve, with the errors a user meets. Usage: run.py CAMSHAFT MODEL.gguf

Standard library only; talks to loopback only. The last line counts what passed, failed and was skipped.
"""
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import support

CAMSHAFT, MODEL = sys.argv[1:3]
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DATA = REPOSITORY / ".." / "shared" / "data"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="camshaft_e2e_"))
ENGINE = str(WORK / "model.engine")
CASES = []


def case(function):
    CASES.append(function)
    return function


class Skipped(Exception):
    """What a case needs is not here; the message says what."""


def camshaft(*arguments, stdin=None, check=0):
    done = subprocess.run([CAMSHAFT, *arguments], input=stdin, capture_output=True, text=True, timeout=300)
    assert done.returncode == check, f"{arguments}: exit {done.returncode}, expected {check}: {done.stderr}"
    return done


def refused(*arguments, code, words):
    text = camshaft(*arguments, check=code).stderr
    for word in words:
        assert word in text, f"{arguments}: '{word}' is not in: {text}"


def Server(*arguments, engine=ENGINE):
    return support.Server(CAMSHAFT, engine, *arguments)


@case
def build_is_reproducible():
    camshaft("build", MODEL, "-o", ENGINE)
    again = str(WORK / "again.engine")
    camshaft("build", MODEL, "-o", again)
    assert pathlib.Path(ENGINE).read_bytes() == pathlib.Path(again).read_bytes(), "two builds differ"
    os.unlink(again)


@case
def killed_build_leaves_nothing():
    target = WORK / "killed.engine"
    for delay in (0.05, 0.2, 0.4):
        process = subprocess.Popen([CAMSHAFT, "build", MODEL, "-o", str(target)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=delay)  # a build may be quicker than the last delay
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            assert not target.exists(), "a killed build left a file under the final name"
        target.unlink(missing_ok=True)
    camshaft("build", MODEL, "-o", str(target))
    target.unlink()


@case
def damaged_engines_are_refused():
    whole = pathlib.Path(ENGINE).read_bytes()
    broken = WORK / "broken.engine"
    for cut in (0, 7, 8, 4095, 4096, len(whole) // 2, len(whole) - 1):
        broken.write_bytes(whole[:cut])
        done = subprocess.run([CAMSHAFT, "run", str(broken), "-p", "x"], capture_output=True, text=True)
        assert done.returncode == 3, f"cut at {cut}: exit {done.returncode} {done.stderr}"
    for position in (9, 40, 5000, len(whole) // 2, len(whole) - 70):
        flipped = bytearray(whole)
        flipped[position] ^= 4
        broken.write_bytes(flipped)
        done = subprocess.run([CAMSHAFT, "run", str(broken), "-p", "x"], capture_output=True, text=True)
        assert done.returncode == 3, f"flip at {position}: exit {done.returncode} {done.stderr}"
    broken.unlink()


@case
def damaged_checkpoints_are_refused():
    head = pathlib.Path(MODEL).read_bytes()[: 8 << 20]
    broken = WORK / "broken.gguf"
    for cut in (0, 3, 24, 1000, len(head)):
        broken.write_bytes(head[:cut])
        refused("build", str(broken), "-o", str(WORK / "no.engine"), code=5, words=["broken.gguf"] if cut == len(head) else [])
    assert not (WORK / "no.engine").exists()
    broken.unlink()


@case
def usage_errors_name_the_option():
    refused("build", MODEL, "--precision", "int3", code=2, words=["precision", "int3", "int4"])
    refused("run", str(WORK / "nothing.engine"), "-p", "x", code=4, words=["nothing.engine"])
    refused("build", MODEL, "--passes=-no_such_pass", "-o", str(WORK / "no.engine"), code=2, words=["no_such_pass", "merge_qkv"])


@case
def run_streams_the_known_answer():
    done = camshaft("run", ENGINE, "--raw", "-p", "The capital of France is", "--max-tokens", "2", "--temperature", "0")
    assert done.stdout == " Paris.\n", repr(done.stdout)
    assert "tokens/s" in done.stderr
    done = camshaft("run", ENGINE, "--raw", "-p", "The capital of France is", "--max-tokens", "2", "--temperature", "0", "--json")
    assert json.loads(done.stdout)["usage"] == {"prompt_tokens": 5, "completion_tokens": 2}, done.stdout


@case
def same_seed_same_text():
    one, two, other = (camshaft("run", ENGINE, "-p", "Tell me a story.", "--max-tokens", "24", "--temperature", "1", "--seed", seed).stdout
                       for seed in ("7", "7", "8"))
    assert one == two and one != other


@case
def inspect_and_tokenize():
    assert json.loads(camshaft("inspect", ENGINE, "--json").stdout)["layers"] == 30
    why = camshaft("inspect", ENGINE, "--why").stdout
    assert "taken: first in the list" in why and "not gemm_ref: stands behind it" in why
    ids = json.loads(camshaft("tokenize", ENGINE, stdin="The capital of France is").stdout)
    assert ids == [504, 3575, 282, 4649, 314], ids
    assert camshaft("tokenize", MODEL, "--decode", stdin=json.dumps(ids)).stdout == "The capital of France is"


@case
def checkpoint_in_place_of_an_engine_is_built_once():
    cache = WORK / "cache"
    first = camshaft("run", MODEL, "-p", "Hi", "--max-tokens", "1", "--cache", str(cache))
    second = camshaft("run", MODEL, "-p", "Hi", "--max-tokens", "1", "--cache", str(cache))
    assert "building" in first.stderr and "building" not in second.stderr


@case
def openai_routes():
    with Server("--name", "smol") as server:
        assert json.loads(server.request("GET", "/v1/models")[1])["data"][0]["id"] == "smol"
        body = {"model": "smol", "prompt": "The capital of France is", "max_tokens": 2, "temperature": 0}
        answer = server.post("/v1/completions", body)
        assert answer["choices"][0]["text"] == " Paris." and answer["usage"]["completion_tokens"] == 2, answer
        events = server.stream("/v1/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})
        assert "".join(c["text"] for e in events for c in e["choices"]) == " Paris."
        assert events[-1]["usage"]["total_tokens"] == 7
        chat = {"model": "smol", "messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 8, "temperature": 0}
        whole = server.post("/v1/chat/completions", chat)["choices"][0]["message"]["content"]
        events = server.stream("/v1/chat/completions", {**chat, "stream": True})
        assert "".join(e["choices"][0]["delta"].get("content") or "" for e in events) == whole
        answer = server.post("/generate", {"prompt": "The capital of France is", "max_new_tokens": 2, "temperature": 0})
        assert answer["text"] == " Paris.", answer
        assert server.request("GET", "/health")[0] == 200
        assert "camshaft_num_requests_running" in server.request("GET", "/metrics")[1]


@case
def bad_requests_get_their_error_and_the_next_one_works():
    with Server("--max-seq-len", "256") as server:
        good = {"prompt": "The capital of France is", "max_tokens": 1, "temperature": 0}
        table = [
            (b"", 400), (b"{", 400), (b"[]", 400), (b'{"prompt": "\xff"}', 400),
            ({**good, "prompt": 5}, 400), ({**good, "max_tokens": -1}, 400), ({**good, "max_tokens": 10**30}, 400),
            ({**good, "max_tokens": 0}, 400), ({**good, "temperature": "hot"}, 400), ({**good, "temperature": 3}, 400),
            ({**good, "top_p": 0}, 400), ({**good, "stop": [""] * 17}, 400), ({**good, "model": "nobody"}, 404),
            ({**good, "prompt": "word " * 2000}, 400), ({**good, "prompt": [49152]}, 400), ({**good, "n": 2}, 400),
            ({**good, "echo": True}, 400), ({**good, "logit_bias": {"x": 1}}, 400), ({**good, "prompt": ["a", "b"]}, 400),
        ]
        for body, expected in table:
            status, text = server.request("POST", "/v1/completions", body)
            assert status == expected, f"{str(body)[:80]}: {status} {text}"
            assert json.loads(text)["error"]["message"], text
            assert server.post("/v1/completions", good)["choices"][0]["text"] == " Paris"
        status, text = server.request("POST", "/v1/completions", {**good, "prompt": "word " * 2000})
        error = json.loads(text)["error"]
        assert error["code"] == "context_length_exceeded" and "256" in error["message"], error
        status, text = server.request("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "word " * 2000}]})
        assert json.loads(text)["error"]["param"] == "messages", text
        status, text = server.request("POST", "/v1/completions", {**good, "model": "nobody"})
        assert "nobody" in json.loads(text)["error"]["message"], text
        assert server.request("GET", "/no/such/route")[0] == 404
        assert server.request("PUT", "/v1/completions", good)[0] == 405


@case
def streams_equal_single_runs():
    words = "river stone cloud engine garden winter lamp paper silver mountain bread signal".split()
    chooser = random.Random(5)
    bodies = [{"prompt": " ".join(chooser.choice(words) for _ in range(chooser.randint(1, 90))), "max_tokens": chooser.randint(4, 40),
               "temperature": 0, "ignore_eos": True, "return_token_ids": True} for _ in range(32)]

    def ids(events):
        return [token for event in events for choice in event["choices"] for token in choice.get("token_ids") or []]

    with Server("--max-seqs", "32", "--prefill-chunk", "48") as server:
        alone = [server.post("/v1/completions", body)["choices"][0] for body in bodies]

        def late(item):
            index, body = item
            time.sleep(0.01 * (index % 7))  # arrival times differ; nothing waits on this
            return server.stream("/v1/completions", {**body, "stream": True})

        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            together = list(pool.map(late, enumerate(bodies)))
    for index, (single, events) in enumerate(zip(alone, together)):
        text = "".join(choice["text"] for event in events for choice in event["choices"])
        assert text == single["text"] and ids(events) == single["token_ids"], f"stream {index} differs"


@case
def pressed_cache_changes_no_text():
    bodies = [{"prompt": f"Count from {i}:", "max_tokens": 60, "temperature": 0, "ignore_eos": True} for i in range(12)]
    with Server() as server:
        wanted = [server.post("/v1/completions", body)["choices"][0]["text"] for body in bodies]
    with Server("--max-seq-len", "128", "--kv-memory", "4M") as server:
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            found = list(pool.map(lambda body: server.post("/v1/completions", body)["choices"][0]["text"], bodies))
        preemptions = server.metric("camshaft_num_preemptions_total")
    assert found == wanted
    assert preemptions > 0, "the cache was never pressed"


@case
def a_client_that_leaves_is_cancelled():
    with Server() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        body = {"prompt": "Once", "max_tokens": 4000, "ignore_eos": True, "stream": True}
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        connection.getresponse().read(64)
        connection.close()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if server.metric("camshaft_num_requests_running") == 0:
                break
        else:
            raise AssertionError("the request still runs 10 s after its client left")


def reference_answers(server, prompt, max_tokens):
    """Greedy ids, and the first step's log-probabilities by token id."""
    answer = server.post("/v1/completions", {
        "prompt": prompt.get("text", prompt["prompt_ids"]), "max_tokens": max_tokens, "temperature": 0, "ignore_eos": True,
        "logprobs": 5, "return_token_ids": True, "return_tokens_as_token_ids": True})["choices"][0]
    assert answer["prompt_token_ids"] == prompt["prompt_ids"], f"{prompt['name']}: the prompt's ids differ"
    first = answer["logprobs"]["top_logprobs"][0]
    return answer["token_ids"], {int(name.removeprefix("token_id:")): value for name, value in first.items()}


def first_step_error(found, expected, wanted):
    """Largest difference of log-probabilities over the reference's five likeliest ids; found and expected may lack some."""
    shared = [top["id"] for top in wanted["first_top5"] if top["id"] in found and top["id"] in expected]
    assert shared, "no id of the reference's five likeliest was found"
    return max(abs(found[token] - expected[token]) for token in shared)


def log_probabilities(step):
    return {top["id"]: top["logit"] - step["first_logsumexp"] for top in step["first_top5"]}


@case
def safetensors_folder_is_the_same_model():
    if not (DATA / "smollm2-hf").is_dir():
        raise Skipped(f"{DATA} is not there")
    reference = json.loads((DATA / "smollm2-reference.json").read_text())
    if hashlib.sha256(pathlib.Path(MODEL).read_bytes()).hexdigest() != reference["meta"]["gguf_sha256"]:
        raise Skipped(f"the reference outputs are not those of {MODEL}")
    folder, engine = str(WORK / "folder"), str(WORK / "folder.engine")
    subprocess.run([sys.executable, REPOSITORY / "tools" / "gguf_to_safetensors.py", MODEL, DATA / "smollm2-hf", folder], check=True)
    prompts = reference["prompts"]
    # The file's own float32 weights under keep (16-bit cache): nearer to the reference than llama.cpp on the 4-bit file. Then all f32.
    for precision, steps in (("keep", 1), ("f32", len(prompts[0]["hf_f32"]["greedy_ids"]))):
        camshaft("build", folder, "-o", engine, "--precision", precision)
        with Server("--max-seq-len", "2048", "--kv-memory", "512M", engine=engine) as server:
            with concurrent.futures.ThreadPoolExecutor(len(prompts)) as pool:
                answers = list(pool.map(lambda prompt: reference_answers(server, prompt, steps), prompts))
        for prompt, (ids, found) in zip(prompts, answers):
            wanted = prompt["hf_f32"]
            expected, peer = log_probabilities(wanted), log_probabilities(prompt["llamacpp_q4_1"])
            bar = 1e-3 if precision == "f32" else first_step_error(peer, expected, wanted)
            error = first_step_error(found, expected, wanted)
            assert error <= bar, f"{precision}, {prompt['name']}: the first step is off by {error}, over {bar}"
            assert ids == wanted["greedy_ids"][:steps], f"{precision}, {prompt['name']}: greedy ids differ: {ids}"
    shutil.rmtree(folder)
    os.unlink(engine)


def main():
    failed = skipped = 0
    for function in CASES:
        start = time.monotonic()
        try:
            function()
            print(f"ok    {function.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        except Skipped as reason:
            skipped += 1
            print(f"skip  {function.__name__}: {reason}", flush=True)
        except Exception as error:  # noqa: BLE001: every failure is a failed case
            failed += 1
            print(f"FAIL  {function.__name__}: {type(error).__name__}: {str(error)[:2000]}", flush=True)
    for file in sorted(WORK.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    WORK.rmdir()
    print(f"{len(CASES) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
