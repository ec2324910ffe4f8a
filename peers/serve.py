# Follows a peer's definitions of `NAME` and `make`. Each line of standard input holds the fields of one setting and a
# number of updates, between tabs; the answer is a JSON list: steps per second, and per second of CPU time.
import json
import sys
import time


def serve():
    print(json.dumps([NAME]), flush=True)
    known, agent = None, None
    for line in sys.stdin:
        *fields, n_updates = line.rstrip("\n").split("\t")
        if fields != known:
            known, agent = fields, make(fields)
            agent.run(1)
        start, cpu_start = time.perf_counter(), time.process_time()
        agent.run(int(n_updates))
        n_steps = int(n_updates) * agent.batch
        cpu_secs = time.process_time() - cpu_start
        print(json.dumps([n_steps / (time.perf_counter() - start), n_steps / cpu_secs]), flush=True)


serve()
