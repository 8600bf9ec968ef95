"""`entitled sandbox serve` by itself, with its state in memory only."""

import subprocess

from harness import PROGRAM, STOP_LIMIT, environment, post


def test_in_memory_it_sells_and_leaves_nothing_behind(tmp_path):
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
    assert len(roots) == 2, "another start is another App Store"
    assert not list(tmp_path.iterdir())



def test_memory_and_a_directory_exclude_each_other(tmp_path):
    command = [PROGRAM, "sandbox", "serve", "--in-memory", "--data", "here"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=STOP_LIMIT)
    assert done.returncode == 64
    assert "--data and --in-memory exclude each other" in done.stderr
