#!/usr/bin/env bash
# What an acceptance run leaves, given to those who read it: JUnit and JSON to parsers, the page to a parser of HTML and, if there is one, to
# Chromium, which runs its script: what it draws, on a desktop, on a telephone and on paper. CCL_PAGES=FOLDER keeps the pages and pictures.
. "$(dirname "$0")/lib.sh"
pages=${CCL_PAGES:-$work}
mkdir -p "$pages"
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import html.parser, json, xml.etree' 2>/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || { echo "SKIP: no python3"; exit 77; }
run 0 "writes the samples" "$build/tests/acceptance_pages" "$pages"
cat >"$work/page.py" <<'PY'
import html.parser

void = {"meta", "br", "link", "img", "hr", "input"}
class Page(html.parser.HTMLParser):
    """Elements as (name, attributes, text): each must end, and none may run a script by an attribute."""
    def __init__(self, path):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(open(path, encoding="utf-8").read())
        self.close()
        assert not self.open, f"{path}: {self.open} never end"
        ids = [attributes["id"] for _, attributes, _ in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids)), f"{path}: an id is there twice"
    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        assert not any(name.startswith("on") for name in names), f"{tag} runs a script"
        element = (tag, dict(attributes), [])
        self.elements.append(element)
        if tag not in void: self.open.append(element)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> in {self.open[-1:]}, line {self.getpos()}"
        self.open.pop()
    def handle_data(self, text):
        for _, _, texts in self.open: texts.append(text)
    def texts(self, tag, kind=None):
        return ["".join(texts) for name, attributes, texts in self.elements
                if name == tag and (kind is None or kind in attributes.get("class", "").split())]
PY
cat >"$work/files.py" <<'PY'
import glob, json, os, sys, xml.etree.ElementTree as tree
from page import Page

def check(path):
    page = Page(path)
    scripts = page.texts("script")
    assert len(scripts) == 2, f"{path}: {len(scripts)} scripts"
    data, verdict = json.loads(scripts[0]), json.load(open(path[:-4] + "json", encoding="utf-8"))
    first = open(path[:-4] + "txt", encoding="utf-8").readline().rstrip("\n")
    assert data.pop("headline") == first and page.texts("pre")[0].startswith(first + "\n"), path
    del verdict["headline"]
    assert data == verdict, f"{path} has other data than the verdict file"

def junit(path):
    root = tree.parse(path).getroot()
    for counted in [root, *root.findall("testsuite")]:
        for name, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            if counted.get(name) is None: continue
            cases = list(counted.iter("testcase"))
            found = len(cases) if tag is None else sum(case.find(tag) is not None for case in cases)
            assert int(counted.get(name)) == found, f"{path}: {name} is {counted.get(name)}, not {found}"
    try:
        import junitparser
    except ImportError:
        return
    suites = junitparser.JUnitXml.fromfile(path)
    assert sum(1 for suite in suites for _ in suite) == int(root.get("tests")), path

samples = sorted(glob.glob(os.path.join(sys.argv[1], "*.html")))
assert len(samples) >= 7, samples
for path in samples:
    check(path)
    junit(path[:-4] + "xml")
PY
run 0 "every element of the pages ends, their data are the verdict, every JUnit document and verdict is whole" "$python" "$work/files.py" "$pages"

browser=
for candidate in chromium chromium-browser google-chrome; do
  if command -v "$candidate" >/dev/null; then browser=$candidate; break; fi
done
if [ -z "$browser" ]; then
  [ "$failures" -eq 0 ] || finish
  echo "SKIP: no chromium (package chromium): nobody looked at the pages"
  exit 77
fi
# Headless Chromium has no window narrower than 500 pixels, therefore a telephone is a frame of that width.
show() { # arguments...
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$work/browser" "$@" 2>"$work/browser.err"
}
# draw PAGE: what the script of the page draws, as a page of its own.
draw() { show --virtual-time-budget=5000 --dump-dom "file://$pages/$1.html" >"$work/$1.dom"; }
for page in sample many hostile unmeasured one incomplete empty; do draw "$page"; done
cat >"$work/drawn.py" <<'PY'
import json, sys
from page import Page

pages = {name: Page(f"{sys.argv[1]}/{name}.dom") for name in "sample many hostile unmeasured one incomplete empty".split()}
def text(name): return "".join(pages[name].texts("main"))
def expect(name, *parts):
    for part in parts: assert part in text(name), f"{name} does not say '{part}'"
def equal(found, expected): assert found == expected, f"{found}, not {expected}"

for name, page in pages.items():
    assert not page.texts("noscript") and page.texts("span", "word"), f"{name} was not drawn: {text(name)[:300]}"
    for word in ("NaN", "nan", "null", "undefined", "Infinity", "[object"):
        assert word not in text(name), f"{name} says {word}"

sample = pages["sample"]
equal(sample.texts("span", "word"), ["FAIL"])
equal(sample.texts("h2"), ["What is wrong", "What to do next", "Stages", "Pairs of hosts", "Bus bandwidth over size",
                           "What differs between hosts", "The same on all hosts", "Hosts and their ranks",
                           "Environment and versions", "All checks"])
expect("sample", "slowdown1.56 [1.49, 1.63]", "5 min 12 s", "2026-11-23 07:23:46 UTC", "1 min 11 s", "Hosts to leave out:node5", "kernel6.8.0-45-generic", "node0 ranks 0 to 7")
table = next(texts for name, attributes, texts in sample.elements if attributes.get("class") == "differences")
equal("".join(table), "FactValueHostsWhich"
      "NCCL_IB_HCAnot said1node7mlx5_0,mlx5_37node0 to node6"
      "driver565.57.011node2570.124.067node0, node1, node3 to node7"
      "pciex8 at 32 GT/s1node5x16 at 32 GT/s7node0 to node4, node6, node7"
      "addressanother value on each host; 10.0.0.1 on node0")
equal(sample.texts("td", "odd"), ["not said", "565.57.01", "x8 at 32 GT/s"])
equal(len(sample.texts("tr", "quiet")), 11)  # of PASS and SKIPPED, which are not printed
marks = [attributes["class"] for _, attributes, _ in sample.elements if attributes.get("class", "").startswith("mark")]
equal((marks.count("mark link"), marks.count("mark")), (6, 9))  # of three maps with their legends
titles = sample.texts("title")
assert "node3 to node4: not measured" in titles and any(title.startswith("node1 to node6: ") for title in titles), titles
equal(len(sample.texts("figure", "plot")), 4)  # three curves of alltoall_perf are one figure
expect("sample", "Below the limit at 16 MiB: ", "1 size not measured.", "32 ranks")
equal(len(sample.texts("path", "below")), 4)

names = pages["many"].texts("text", "suspect")
for name in ("rack04-node077", "rack08-node130"): assert names.count(f"\u25b8 {name}") == 2, names
assert not any("131" in name for name in names), names  # its label would cover that of 130
expect("many", "another value on each host; 10.0.0.1 on rack00-node000", "all others", "And 15 more in the table")
assert len(pages["many"].elements) < 6000, len(pages["many"].elements)

equal((pages["hostile"].texts("b"), len(pages["hostile"].texts("script"))), (["", ""], 2))  # two limits of meters
assert "<script>alert(1)</script>" in text("hostile")
expect("unmeasured", "No pair was measured.", "No size was measured.", "not measured", "not recorded")
equal(pages["incomplete"].texts("span", "word"), ["INCONCLUSIVE"])
expect("incomplete", "The run ended early", "before the plan\u2019s end")
expect("one", "Facts of the host")
expect("empty", "Nothing was measured: no check was made.", "No stage was run.", "No host is known.", "None was made.")
PY
run 0 "the script draws every part of the pages" "$python" "$work/drawn.py" "$work"
# The functions of the script, called with the page's own data beside: each [found, expected].
"$python" - "$pages/sample.html" >"$work/functions.html" <<'PY'
import sys
print(open(sys.argv[1], encoding="utf-8").read().replace("</body>", r"""<script>
const cells = (curve) => curves({curves: [curve]}).at(-1).textContent;
const points = (...all) => all.map(([size_bytes, busbw_bytes_per_s, low_bytes_per_s, high_bytes_per_s, limit_bytes_per_s]) =>
    ({size_bytes, busbw_bytes_per_s, low_bytes_per_s, high_bytes_per_s, limit_bytes_per_s}));
const curve = (...all) => ({stage: 'full', program: 'x', datatype: 'float', ranks: 6, points: points(...all)});
const number = (value, unit = '') => numberText({value, unit});
const many = new Set([77, 200, 201]), labels = labelled(256, many, 2.5, 12);
const undecided = wrong({complete: true, checks: [{verdict: 'INCONCLUSIVE', subject: 'run', numbers: []}]});
const suspects = suspectsOf({hosts: [{name: 'a-b'}, {name: 'c'}, {name: 'd'}], excluded: ['d', 'gone'], checks: [
  {verdict: 'FAIL', subject: 'link a-b->c'}, {verdict: 'WARN', subject: 'link c-d'}, {verdict: 'WARN', subject: 'host c'},
  {verdict: 'FAIL', subject: 'host a-b'}, {verdict: 'PASS', subject: 'link a-b-d'}]});
const pairs = [
  [decimalTicks({low: 1, high: 1e4}), [1, 10, 100, 1000, 10000]], [decimalTicks({low: 1, high: 60}), [1, 2, 5, 10, 20, 50]],
  [decimalTicks({low: 2, high: 4}), [2, 3, 4]], [decimalTicks({low: 20, high: 22}), [20, 21, 22]],
  [binaryTicks({low: 1024, high: 4096}, 6), [1024, 2048, 4096]], [binaryTicks({low: 1024, high: 2 ** 20}, 6).length <= 6, true],
  [Math.round(logAxis(10, 1000, 0, 100).pixel(100)), 50], [Math.round(logAxis(8, 8, 0, 100).pixel(8)), 50],
  [[0.5, 1, 1.1, 1e9, Infinity].map(heatStep), [0, 1, 2, 6, 6]],
  [medianPair([[9, 1], [2, 9]]), 2], [medianPair([[9, null], [2, 9]]), 2], [medianPair([[9]]), null], [medianPair([]), null],
  [labels.includes(77) && labels.includes(200) && !labels.includes(201), true],
  [labels.every((at, i) => i === 0 || at - labels[i - 1] >= 5), true], [labelled(8, new Set(), 40, 12).length, 8],
  [[...suspects.hosts].sort(), [0, 2]], [suspects.links, [[0, 1], [1, 2], [2, 1]]],
  [heatMap({size_bytes: 8, time_s: [[1, 2]]}, [{name: 'a'}, {name: 'b'}, {name: 'c'}], suspects).textContent, 'No picture: 2 times for 3 hosts.'],
  [maps({hosts: [{name: 'a'}], pairs: [{size_bytes: 8, time_s: [[null]]}]}), null], [curves({curves: []}), null],
  [cells(curve([8, 0, 0, 0, 0], [1024, 1e9, 9e8, 2e9, 0])).includes('8 B: no data leave a rank, so there is no bandwidth.'), true],
  [cells(curve([8, 1e9, 9e8, 2e9, 3e9])).includes('Below the limit at 8 B: 1 GB/s of 3 GB/s.'), true],
  [cells(curve([8, null, null, null, null])).includes('No size was measured.'), true],
  [nameRanges([]), ''], [nameRanges(['a']), 'a'], [nameRanges(['n1', 'n2']), 'n1, n2'],
  [nameRanges(['n09', 'n10', 'n11', 'n13', 'm14']), 'n09 to n11, n13, m14'],
  [nameRanges(['n99999999999', 'x', 'x']), 'n99999999999, x, x'],
  [[231e9, 999.6e9, 5e16, 0, null].map(rateText), ['231 GB/s', '1 TB/s', '50000 TB/s', '0 B/s', 'not measured']],
  [[number(null, 'B/s'), number(1.2e-3, 's'), number(65536, 'B'), number(-1, 'B'), number(2194), number(1.5625)],
   ['not measured', '1.2 ms', '64 KiB', '-1 B', '2194', '1.56']],
  [[secondsText(88e-6), secondsText(0.157e-6), secondsText(3), sizeText(1000)], ['88 us', '0.157 us', '3 s', '1000 B']],
  [[durationText(100, 100.4), durationText(100, 159.6), durationText(100, 3820)], ['0.4 s', '1 min 00 s', '1 h 02 min']],
  [[durationText(100, 99), durationText(0, 0), durationText(null, 3)], ['unknown', 'unknown', 'unknown']],
  [[utcText(1795418626), utcText(1e300), utcText(null)], ['2026-11-23 07:23:46 UTC', 'not recorded', 'not recorded']],
  [quantities([['slowdown', 1.56], ['slowdown_low', 1.49], ['slowdown_high', 1.63], ['gap_low', 1], ['gap_high', 2],
               ['below_low', 3]].map(([name, value]) => ({name, value, unit: ''}))),
   [['slowdown', '1.56 [1.49, 1.63]'], ['gap', '1 to 2'], ['below low', '3']]],
  [undecided.flat().filter((part) => part !== null).slice(0, 3).map((part) => part.textContent),
   ['What is wrong', 'No check found anything wrong.', 'What is not decided']]];
const text = (value) => JSON.stringify(value);
const bad = pairs.filter(([found, expected]) => text(found) !== text(expected));
document.title = bad.length > 0 ? `wrong: ${text(bad)}` : `all ${pairs.length} are as expected`;
</script></body>"""), end="")
PY
title=$(show --virtual-time-budget=5000 --dump-dom "file://$work/functions.html" | sed -nE 's/.*<title>((wrong|all) .*)<\/title>.*/\1/p' | head -n 1)
if [[ "$title" == all* ]]; then pass "the functions of the script"; else fail "the functions of the script: '$title' $(grep CONSOLE "$work/browser.err" | tail -n 3)"; fi
# no_overflow PAGE WIDTH: nothing of the page is wider than a window of WIDTH pixels.
no_overflow() {
  "$python" - "$pages/$1.html" "$2" >"$work/frame.html" <<'PY'
import html, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = page.replace("</body>", "<script>onload=()=>parent.postMessage(document.documentElement.scrollWidth,'*')</script></body>")
print(f'<!DOCTYPE html><body><iframe width="{sys.argv[2]}" height="800" frameborder="0" srcdoc="{html.escape(page)}"></iframe>'
      "<script>onmessage=e=>document.title='wide '+e.data</script></body>")
PY
  local wide
  wide=$(show --virtual-time-budget=5000 --dump-dom "file://$work/frame.html" | sed -nE 's/.*<title>wide ([0-9]+)<.*/\1/p' | head -n 1)
  if [ -n "$wide" ] && [ "$wide" -le "$2" ]; then pass "$1 fits into $2 pixels"; else fail "$1 is '$wide' pixels wide, the window $2: $(tail -n 3 "$work/browser.err")"; fi
}
for page in sample many hostile; do
  no_overflow "$page" 1280
  no_overflow "$page" 390
done
sheets() { grep -aoE '/Type ?/Page([^s]|$)' "$1" | wc -l; }  # of a PDF
for page in sample empty; do
  show --no-pdf-header-footer --print-to-pdf="$work/$page.pdf" "file://$pages/$page.html"
  if [ "$(head -c 4 "$work/$page.pdf")" = %PDF ]; then pass "$page prints"; else fail "$page does not print"; fi
  n=$(sheets "$work/$page.pdf")
  if [ "$n" -ge 1 ] && [ "$n" -le 2 ]; then pass "$page fits on two sheets"; else fail "$page takes $n sheets"; fi
done
finish
