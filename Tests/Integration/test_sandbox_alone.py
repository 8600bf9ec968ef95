"""`entitled sandbox serve` as a process of its own, with its state in memory only."""

import subprocess

from harness import PROGRAM, STOP_LIMIT, environment, post


def test_a_sandbox_in_memory_sells_and_leaves_no_files(tmp_path):
    roots = set()
    for _ in range(2):
        command = [PROGRAM, "sandbox", "serve", "--in-memory", "--sandbox", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path)
        try:
            address = process.stdout.readline().strip().removeprefix("ready sandbox=")
            status, bought = post(
                f"http://{address}/sandbox/v1/purchases", {"app": "ocean-journal", "productId": "pro.monthly"})
            assert status == 200, bought
            roots.add(bought["signedTransactionInfo"].split(".")[0])
        finally:
            process.terminate()
            assert process.wait(STOP_LIMIT) == 0
            process.stdout.close()
    assert len(roots) == 2, "a restart makes another App Store"
    assert not list(tmp_path.iterdir())



def test_memory_and_a_directory_are_mutually_exclusive(tmp_path):
    command = [PROGRAM, "sandbox", "serve", "--in-memory", "--data", "here"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=STOP_LIMIT)
    assert done.returncode == 64
    assert "--data and --in-memory exclude each other" in done.stderr
