#!/usr/bin/env bash
# What an acceptance run leaves, given to those who read it: JUnit and JSON to parsers, the page to a parser of HTML and, if there is one, to
# Chromium on a desktop, on a telephone and on paper. CCL_PAGES=FOLDER keeps the pages and pictures.
. "$(dirname "$0")/lib.sh"
pages=${CCL_PAGES:-$work}
mkdir -p "$pages"
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import html.parser, json, xml.etree' 2>/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || { echo "SKIP: no python3"; exit 77; }
run 0 "writes the samples" "$build/tests/acceptance_pages" "$pages"
run 0 "every element of the pages ends, every JUnit document and verdict is whole" "$python" - "$pages" <<'PY'
import glob, html.parser, json, os, sys, xml.etree.ElementTree as tree

void = {"meta", "br", "link", "img", "hr", "input"}
class Balance(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids = [], []
    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        assert not any(name.startswith("on") for name in names), f"{tag} runs a script"
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in void: self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}, line {self.getpos()}"
        self.open.pop()

def page(path):
    parser = Balance()
    parser.feed(open(path, encoding="utf-8").read())
    parser.close()
    assert not parser.open, f"{path}: {parser.open} never end"
    assert len(parser.ids) == len(set(parser.ids)), f"{path}: an id is there twice"

def junit(path):
    root = tree.parse(path).getroot()
    for counted in [root, *root.findall("testsuite")]:
        for name, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
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
    page(path)
    junit(path[:-4] + "xml")
    json.load(open(path[:-4] + "json", encoding="utf-8"))
PY

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
# no_overflow PAGE WIDTH: nothing of the page is wider than a window of WIDTH pixels.
no_overflow() {
  "$python" - "$pages/$1.html" "$2" >"$work/frame.html" <<'PY'
import html, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = page.replace("default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';")
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
