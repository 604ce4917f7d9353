"""A stand-in for torchrun's agent: hosts a store that speaks PyTorch's TCPStore 2.x protocol, written from the protocol and
not from this project's server, and starts N workers with the variables that torchrun sets. In all attempts but the last, worker
N - 1 never starts and the others are ended (SIGTERM) once they have written something, as an agent does when a worker fails.

usage: agent_store.py WORKERS RESTARTS PROGRAM [ARGUMENT]...
Exits with the first bad code of the last attempt; 90: workers wrote keys outside their run and attempt, or left some behind.
"""
import os
import socket
import struct
import subprocess
import sys
import threading


RUN = "job 7"


class Store:
    def __init__(self):
        self.values, self.changed = {}, threading.Condition()
        self.written = set()  # in this attempt
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        stream = client.makefile("rwb")

        def number(form, size):
            return struct.unpack("<" + form, self.exactly(stream, size))[0]

        def blob():
            return self.exactly(stream, number("Q", 8))

        def answer(form, *values):
            stream.write(struct.pack("<" + form, *values))

        validated = False
        try:
            while True:
                code = number("B", 1)
                if not validated and code != 0:
                    return  # the first message must be VALIDATE
                if code == 0:
                    if number("I", 4) != 0x3C85F7CE:
                        return
                    validated = True
                elif code == 1:  # SET
                    key, value = blob(), blob()
                    with self.changed:
                        self.values[key] = value
                        self.written.add(key)
                        self.changed.notify_all()
                elif code == 3:  # GET
                    with self.changed:
                        value = self.values.get(blob())
                    if value is None:
                        return
                    answer("Q", len(value))
                    stream.write(value)
                elif code == 4:  # ADD
                    key, by = blob(), number("q", 8)
                    with self.changed:
                        total = int(self.values.get(key, b"0")) + by
                        self.values[key] = str(total).encode()
                        self.written.add(key)
                        self.changed.notify_all()
                    answer("q", total)
                elif code in (5, 6):  # CHECK, WAIT
                    keys = [blob() for _ in range(number("Q", 8))]
                    with self.changed:
                        ready = lambda: all(key in self.values for key in keys)
                        if code == 6:
                            self.changed.wait_for(ready, 60)
                        answer("B", 0 if ready() else 1)
                elif code == 8:  # DELETE_KEY
                    with self.changed:
                        answer("q", 0 if self.values.pop(blob(), None) is None else 1)
                elif code == 13:  # PING
                    answer("I", number("I", 4))
                else:
                    print(f"agent_store: unknown operation {code}", file=sys.stderr)
                    return
                stream.flush()
        except (EOFError, ConnectionError):
            pass
        finally:
            client.close()

    @staticmethod
    def exactly(stream, size):
        data = stream.read(size)
        if len(data) != size:
            raise EOFError
        return data


def run_attempt(store, workers, restarts, attempt, command):
    common = dict(os.environ, WORLD_SIZE=str(workers), LOCAL_WORLD_SIZE=str(workers), GROUP_RANK="0",
                  MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store.port), TORCHELASTIC_RUN_ID=RUN,
                  TORCHELASTIC_RESTART_COUNT=str(attempt), TORCHELASTIC_MAX_RESTARTS=str(restarts),
                  TORCHELASTIC_USE_AGENT_STORE="True")
    fails = attempt < restarts
    running = [subprocess.Popen(command, env=dict(common, RANK=str(rank), LOCAL_RANK=str(rank)))
               for rank in reversed(range(workers - 1 if fails else workers))]
    if fails:
        with store.changed:
            store.changed.wait_for(lambda: store.written, 60)
        for process in running:
            process.terminate()
    return next((code for code in [process.wait() for process in running] if code != 0), 0)


def main():
    workers, restarts, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    store = Store()
    for attempt in range(restarts + 1):
        store.written.clear()
        code = run_attempt(store, workers, restarts, attempt, command)
        own = f"/ccl-tests/{RUN}/{attempt}/".encode()
        strange = [key for key in store.written if not key.startswith(own)]
        print(f"agent_store: attempt {attempt}: wrote {sorted(store.written)}, code {code}", file=sys.stderr)
        if strange:
            print(f"agent_store: not under {own}: {strange}", file=sys.stderr)
            return 90
        if workers > 1 and not store.written:
            print("agent_store: nobody used the store", file=sys.stderr)
            return 90
    left = [key for key in store.values if key.startswith(own)]
    if code == 0 and left:
        print(f"agent_store: left behind: {left}", file=sys.stderr)
        return 90
    return code


sys.exit(main())
