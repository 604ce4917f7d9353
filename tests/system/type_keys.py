"""Types lines into an interactive shell, each followed by a tab, and prints what the shell makes of them.

type_keys.py bash|zsh PREFIX < lines    PREFIX: an installed tree
"""

import os
import pty
import select
import sys
import time

SETUP = {
    "bash": [
        "bind 'set enable-bracketed-paste off'",
        "bind -x '\"\\C-t\": printf \"GOT<%s>\\n\" \"$READLINE_LINE\"'",
        ". /usr/share/bash-completion/bash_completion",
    ],
    "zsh": [
        "unset zle_bracketed_paste",
        'fpath=("$PREFIX/share/zsh/site-functions" $fpath)',
        "autoload -Uz compinit && compinit -u -d $HOME/dump",
        "show() { print -r -- \"GOT<$BUFFER>\" }; zle -N show; bindkey '^T' show",
    ],
}
COMMAND = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
LIMIT_S = 60


class Shell:
    def __init__(self, name, prefix):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ.update(
                PREFIX=prefix,
                TERM="dumb",
                PATH=f"{prefix}/bin:{os.environ['PATH']}",
                XDG_DATA_DIRS=f"{prefix}/share:/usr/share",
            )
            os.execvp(COMMAND[name][0], COMMAND[name])
        self.unread = ""
        for line in SETUP[name]:
            self.write(line + "\n")
        self.write("echo REA''DY\n")
        self.read("READY\r\n")

    def write(self, text):
        os.write(self.terminal, text.encode())

    def read(self, end):
        """Returns what the shell wrote before `end`, and goes behind it."""
        limit = time.monotonic() + LIMIT_S
        while end not in self.unread:
            ready, _, _ = select.select([self.terminal], [], [], max(0, limit - time.monotonic()))
            if not ready:
                sys.exit(f"no {end!r} within {LIMIT_S} s, but {self.unread!r}")
            self.unread += os.read(self.terminal, 4096).decode(errors="replace")
        text, self.unread = self.unread.split(end, 1)
        return text

    def completed(self, line):
        self.write(line + "\t\x14")
        self.read("GOT<")
        result = self.read(">")
        self.write("\x15")
        return result


if __name__ == "__main__":
    shell = Shell(sys.argv[1], sys.argv[2])
    for typed in sys.stdin.read().splitlines():
        print(shell.completed(typed), flush=True)
