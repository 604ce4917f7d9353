#include "tools/acceptance/report/html_parts.hpp"

namespace ccl_tests::acceptance {

// The steps of the heat map grow darker on paper and brighter on a dark screen, so that grey print
// and every kind of colour vision keep their order.
std::string_view page_style() {
  return R"css(
:root{--page:#fbfaf8;--sheet:#fff;--ink:#1d1f23;--dim:#5a5f69;--rule:#dcd9d3;--soft:#f3f1ed;
--fail:#a3201a;--warn:#8a5600;--inconclusive:#5b4691;--pass:#17683a;--skipped:#676c75;--mark:#0a55a8;
--h0:#fffdf5;--h1:#fdf3d3;--h2:#fbdc94;--h3:#f6b750;--h4:#e08a22;--h5:#ad5410;--h6:#6a2a0b;
--c0:#0a55a8;--c1:#b3500a;--c2:#157a5a;--c3:#8c3d86;--c4:#6b6100;--c5:#4b4f57;
--nd:#2a2a2a;--nl:#fff}
@media screen and (prefers-color-scheme:dark){:root{--page:#15171a;--sheet:#1d2024;--ink:#e8e6e1;
--dim:#a3a8b1;--rule:#383c43;--soft:#262a2f;--fail:#ff8a80;--warn:#f2b84b;--inconclusive:#bfa8ff;
--pass:#76d196;--skipped:#a0a5ae;--mark:#7fc0ff;--h0:#16130e;--h1:#2b2419;--h2:#54401f;--h3:#87601f;
--h4:#c08526;--h5:#f0b04a;--h6:#ffe6b8;--c0:#7fc0ff;--c1:#ffab66;--c2:#6fd6b0;--c3:#e29bdc;
--c4:#d9cf5a;--c5:#b9bec7;--nd:#f0ece4;--nl:#1b1408}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",
Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif;overflow-wrap:break-word}
h1,h3,p,pre,dt,dd,code,.words{overflow-wrap:anywhere}
main{max-width:70rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}
h1,h2,h3,p,dl,figure{margin:0}
h2{font-size:1.2rem;margin:2.4rem 0 .7rem;padding-bottom:.3rem;border-bottom:1px solid var(--rule)}
h3{font-size:1rem}
code,pre,.code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--soft);border:1px solid var(--rule);border-radius:6px;
white-space:pre-wrap;overflow-wrap:anywhere}
.note,.empty,.legend{color:var(--dim);font-size:.9rem}
.note{margin:.3rem 0 .6rem;max-width:48rem}
.fail{--v:var(--fail)}.warn{--v:var(--warn)}.inconclusive{--v:var(--inconclusive)}
.pass{--v:var(--pass)}.skipped{--v:var(--skipped)}
.banner{background:var(--sheet);border:1px solid var(--rule);border-left:.6rem solid var(--v);
border-radius:8px;padding:1.2rem 1.4rem}
.banner h1{line-height:1.2}
.word{display:block;color:var(--v);font-size:clamp(2.4rem,8vw,3.6rem);font-weight:800;letter-spacing:-.01em}
.what{display:block;font-size:clamp(1.15rem,3.2vw,1.55rem);font-weight:600;margin:.15rem 0 .5rem}
.kicker,.sub{color:var(--dim);font-size:.92rem}
.tally{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:.8rem 0 0;padding:.7rem 0 0;
border-top:1px solid var(--rule);font-size:.92rem}
.chip{color:var(--v);font-weight:700;font-size:.82rem;letter-spacing:.02em;white-space:nowrap}
.cards{display:grid;gap:.8rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr))}
.card{background:var(--sheet);border:1px solid var(--rule);border-left:.3rem solid var(--v);border-radius:6px;
padding:.8rem 1rem}
.card header{display:flex;flex-wrap:wrap;gap:.1rem .8rem;align-items:baseline}
.card h3{font-size:1.08rem;margin-right:auto}
.card p{margin:.25rem 0}
.reason{color:var(--dim)}
.numbers{display:grid;grid-template-columns:fit-content(50%) 1fr;gap:.05rem .9rem;margin-top:.5rem;font-size:.92rem}
.numbers dt{color:var(--dim)}.numbers dd{margin:0;font-variant-numeric:tabular-nums}
.meter{position:relative;height:.65rem;margin:.65rem 0 .2rem;background:var(--soft);border:1px solid var(--rule)}
.meter i{position:absolute;left:0;top:0;bottom:0;background:var(--v)}
.meter b{position:absolute;top:-.25rem;bottom:-.25rem;border-left:2px solid var(--ink)}
table{border-collapse:collapse;width:100%;font-size:.92rem;background:var(--sheet)}
th,td{text-align:left;vertical-align:top;padding:.4rem .7rem;border-bottom:1px solid var(--rule)}
thead th{font-size:.8rem;color:var(--dim);font-weight:600;border-bottom:2px solid var(--rule)}
td.num,th.num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.fact{min-width:6rem}.value{min-width:9rem}.checks .code{font-size:.78em}
.odd{font-weight:700}
.track{position:relative;min-width:8rem;height:1.1em;margin-top:.2em;background:var(--soft)}
.track i{position:absolute;top:0;bottom:0;min-width:2px;background:var(--v)}
.line-time{width:26%}
.scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}
.maps,.plots{display:grid;gap:1.4rem}.maps>*,.plots>*,.cards>*{min-width:0}
.maps.small{grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}
.plots{grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr))}
figcaption{font-size:.95rem;margin-bottom:.3rem}figcaption>span{color:var(--dim)}
svg{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,"DejaVu Sans",sans-serif;fill:var(--ink)}
svg.map{max-width:100%;height:auto;display:block}
svg.curve{max-width:100%;height:auto;display:block;background:var(--sheet)}
svg.defs{position:absolute;width:0;height:0}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}
.h5{fill:var(--h5)}.h6{fill:var(--h6)}.hd{fill:var(--soft)}
.missing{fill:url(#missing)}.sw{stroke:var(--dim)}
.hc{fill:transparent;stroke:var(--sheet);stroke-width:1}
.n0,.n1,.n2,.n3,.n4,.n5,.n6{font-size:11px;text-anchor:middle;fill:var(--nd)}.n4{fill:#1d1710}.n5,.n6{fill:var(--nl)}
.mark{fill:none;stroke:var(--mark);stroke-width:1.6}.wedge{fill:var(--mark)}.mark.link{stroke-width:2.4}
.hl{font-size:11px;fill:var(--dim)}.hl.suspect{fill:var(--mark);font-weight:700}
.at{fill:var(--dim);font-size:12px}
.legend{display:flex;flex-wrap:wrap;gap:.2rem .9rem;margin:.2rem 0 .8rem}
.legend svg{vertical-align:-2px}
.grid{stroke:var(--rule);fill:none}.axis{stroke:var(--dim);fill:none}.tick{font-size:11px;fill:var(--dim)}
.band{opacity:.22}.line{fill:none;stroke-width:2}.limit{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-dasharray:6 4}
.below{stroke:var(--fail);stroke-width:2.4;fill:none}.end{font-size:12px;font-weight:600}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}
.line.c0{fill:none;stroke:var(--c0)}.line.c1{fill:none;stroke:var(--c1)}.line.c2{fill:none;stroke:var(--c2)}
.line.c3{fill:none;stroke:var(--c3)}.line.c4{fill:none;stroke:var(--c4)}.line.c5{fill:none;stroke:var(--c5)}
.facts{display:grid;grid-template-columns:fit-content(40%) 1fr;gap:.15rem 1.2rem;font-size:.92rem}
.facts dt{color:var(--dim)}.facts dd{margin:0}
.hosts{columns:14rem;list-style:none;margin:.4rem 0 0;padding:0;font-size:.9rem}
.hosts li{break-inside:avoid}
footer{margin-top:2.5rem;color:var(--dim);font-size:.85rem}
@media (max-width:40rem){
main{padding:1rem .8rem 2rem}.banner{padding:.9rem 1rem}
table.stack thead{display:none}
table.stack tr{display:block;border-bottom:1px solid var(--rule);padding:.5rem .6rem}
table.stack td{display:block;border:0;padding:.05rem 0;text-align:left;white-space:normal}
table.stack td:empty{display:none}
table.stack td[data-label]::before{content:attr(data-label) ": ";color:var(--dim)}
th,td{padding:.35rem .3rem}.fact,.value{min-width:4rem;overflow-wrap:anywhere}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.4rem}
.track{margin:.4em 0}}
.paper{display:none}
@page{size:A4;margin:9mm}
@media print{
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{background:#fff;font-size:8pt;line-height:1.3}main{max-width:none;padding:0}
h1,h2,h3,p,li{orphans:3;widows:3}h2{break-after:avoid;font-size:9.5pt;margin:2mm 0 1mm;padding-bottom:.3mm}
.paper{display:block}.chip,.reason{font-size:7pt}h3,.card h3{font-size:8.5pt}
.banner{padding:1.5mm 3mm}.word{display:inline;font-size:16pt}.what{display:inline;font-size:10pt}
.banner .sub,.banner .kicker{font-size:7.5pt}.tally{margin:.8mm 0 0;padding:.8mm 0 0;font-size:7.5pt}
.note{margin:.5mm 0 1mm;max-width:none;font-size:7.5pt}pre{margin:.5mm 0;padding:.8mm 1.5mm}code,pre,.code{font-size:7pt}
.cards{grid-template-columns:1fr 1fr;gap:1.5mm}.card{padding:1mm 2mm}.card p{margin:.3mm 0}.numbers{margin-top:.5mm;font-size:7pt;
grid-template-columns:repeat(2,fit-content(50%) 1fr)}.meter{margin:.8mm 0}
thead{display:table-header-group}tr,figure,.card,.banner,.legend,li{break-inside:avoid}figcaption{break-after:avoid}
table{font-size:7.5pt}th,td{padding:.4mm 1.2mm}thead th{font-size:7pt}.track{height:.9em}.fact,.value{min-width:0}
h2+.note,p:has(+pre){break-after:avoid}
.maps,.maps.small{grid-template-columns:repeat(auto-fit,minmax(58mm,1fr));gap:2mm}.scroll{overflow:visible}.legend{margin:.3mm 0 1mm;font-size:7pt}
svg.map,svg.curve{min-width:0!important;max-width:100%}svg.map{max-height:70mm}svg.curve{max-height:42mm}
.plots{grid-template-columns:repeat(4,1fr);gap:2mm}svg.curve .tick,svg.curve .at,svg.curve .end{font-size:13px}figcaption{font-size:8pt}
.facts{grid-template-columns:repeat(2,fit-content(16%) 1fr);gap:.2mm 2mm;font-size:7.5pt}.hosts{columns:5;font-size:7pt}
.checks .quiet{display:none}footer{margin-top:2mm;font-size:7pt}
}
)css";
}

std::string_view page_patterns() {
  return "<svg class=\"defs\" aria-hidden=\"true\"><defs><pattern id=\"missing\" width=\"5\" "
         "height=\"5\" patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1l2-2M0 5l5-5M4 6l2-2\" "
         "style=\"stroke:var(--dim);stroke-width:.9;opacity:.75\"/></pattern></defs></svg>\n";
}

}  // namespace ccl_tests::acceptance
