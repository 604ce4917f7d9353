"""A stand-in for torchrun's agent: hosts a store that speaks PyTorch's TCPStore 2.x protocol, written from the protocol and
not from this project's server, starts N workers with the variables that torchrun sets, and restarts them once if asked.

usage: agent_store.py WORKERS RESTARTS PROGRAM [ARGUMENT]...     exits with the first bad code of the last attempt
"""
import os
import socket
import struct
import subprocess
import sys
import threading


class Store:
    def __init__(self):
        self.values, self.changed = {}, threading.Condition()
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


def main():
    workers, restarts, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    store = Store()
    code = 0
    for attempt in range(restarts + 1):
        common = dict(os.environ, WORLD_SIZE=str(workers), LOCAL_WORLD_SIZE=str(workers), GROUP_RANK="0",
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store.port), TORCHELASTIC_RUN_ID="job",
                      TORCHELASTIC_RESTART_COUNT=str(attempt), TORCHELASTIC_MAX_RESTARTS=str(restarts),
                      TORCHELASTIC_USE_AGENT_STORE="True")
        running = [subprocess.Popen(command, env=dict(common, RANK=str(rank), LOCAL_RANK=str(rank)))
                   for rank in reversed(range(workers))]
        codes = [process.wait() for process in running]
        code = next((c for c in codes if c != 0), 0)
    leftover = [key for key in store.values if key.startswith(b"/ccl-tests/") or b"ccl-tests" in key]
    print(f"agent_store: keys left over: {leftover}")
    return code


sys.exit(main())
