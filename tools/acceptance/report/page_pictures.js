// The pictures of page.html: times between hosts as heat maps, bus bandwidths as curves.

// Steps of the colour scale: a pair's time divided by the median of all pairs. Step 0 is faster
// than usual, step 1 usual, the others are slower.
const heatSteps = [[0.8, 'below 0.8'], [1.1, '0.8 to 1.1'], [1.25, 'to 1.25'], [1.5, 'to 1.5'],
                   [2, 'to 2'], [3, 'to 3'], [Infinity, 'above 3']];
const heatStep = (ratio) => heatSteps.findIndex(([below], i) => ratio < below || i === 6);

// Returns the median of the times between different hosts; null if nothing was measured.
function medianPair(rows) {
  const times = rows.flatMap((row, from) => row.filter((time, to) => from !== to && time > 0));
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)] ?? null;
}
// Returns the hosts that have a label, if `cell` pixels is a row's height and `line` a label's: all
// suspects that do not cover each other, and of the others each n-th with room.
function labelled(hosts, suspect, cell, line) {
  const apart = Math.ceil(line / cell);
  const step = [1, 2, 4, 5, 8, 10, 16, 32].find((nice) => nice >= apart) ?? 32;
  const all = Array.from({length: hosts}, (_, i) => i);
  const suspects = [];
  for (const i of all)
    if (suspect.has(i) && !(i - suspects.at(-1) < apart)) suspects.push(i);
  return all.filter((i) => suspects.includes(i) || (
      i % step === 0 && suspects.every((other) => Math.abs(i - other) >= apart)));
}
// Returns what the map marks: hosts that are excluded or whose own check is FAIL, and links whose
// check is WARN or worse. "link a-b" is both directions, "link a->b" one.
function suspectsOf({hosts, checks, excluded}) {
  const index = new Map(hosts.map((host, i) => [host.name, i]));
  const names = [...excluded], links = [];
  for (const {verdict, subject} of checks) {
    if (['PASS', 'SKIPPED'].includes(verdict)) continue;
    if (verdict === 'FAIL' && subject.startsWith('host ')) names.push(subject.slice(5));
    if (!subject.startsWith('link ')) continue;
    const ends = subject.slice(5);  // names may hold '-'
    for (let at = ends.indexOf('-'); at >= 0; at = ends.indexOf('-', at + 1)) {
      const oneWay = ends.startsWith('->', at);
      const from = index.get(ends.slice(0, at)), to = index.get(ends.slice(at + (oneWay ? 2 : 1)));
      if (from === undefined || to === undefined) continue;
      links.push([from, to]);
      if (!oneWay) links.push([to, from]);
      break;
    }
  }
  return {links, hosts: new Set(names.map((name) => index.get(name)).filter((i) => i >= 0))};
}
// Returns a path for all cells of a step: runs of a row, in units of cells.
function cellPaths(n, stepOf) {
  const paths = heatSteps.map(() => '');
  for (let i = 0; i < n; ++i)
    for (let j = 0, end; j < n; j = end) {
      const step = stepOf(i, j);
      for (end = j + 1; end < n && stepOf(i, end) === step;) ++end;
      if (step !== null) paths[step] += `M${j} ${i}h${end - j}v1h${j - end}z`;
    }
  return paths;
}
// Returns transparent cells over the paths: a title each, and a number if there is room.
function cellTitles({n, cell, time_s, median, hosts}) {
  const withTitles = 32, withNumbers = 16;  // hosts
  const cells = [];
  for (let i = 0; i < n && n <= withTitles; ++i)
    for (let j = 0; j < n; ++j) {
      if (i === j) continue;
      const time = time_s[i][j], ratio = time / median;
      const words = time === null ? 'not measured'
          : `${secondsText(time)}, ${ratio.toFixed(2)} times the median`;
      const number = ratio < 9.95 ? ratio.toFixed(1) : ratio < 999 ? ratio.toFixed(0) : '>999';
      cells.push(svg('g', {}, svg('title', {}, `${hosts[i].name} to ${hosts[j].name}: ${words}`),
          svg('rect.cell', {x: j * cell, y: i * cell, width: cell, height: cell}),
          time === null || n > withNumbers ? null
              : svg(`text.ratio.s${heatStep(ratio)}`,
                    {x: (j + 0.5) * cell, y: (i + 0.5) * cell + 4}, number)));
    }
  return cells;
}
// Returns a frame around a suspect's row and column. Where the frame would hide thin rows, wedges
// beside the map point at them.
function hostMarks(host, cell, side) {
  const at = host * cell, middle = at + cell / 2;
  if (cell >= 8)
    return [svg('rect.mark', {x: 0, y: at, width: side, height: cell}),
            svg('rect.mark', {x: at, y: 0, width: cell, height: side})];
  return [svg('path.wedge', {d: `M0 ${middle}l-6 -3v6zM${side} ${middle}l6 -3v6z` +
                                `M${middle} 0l-3 -6h6zM${middle} ${side}l-3 6h6z`})];
}
function heatMap({size_bytes, time_s}, hosts, suspects) {
  const n = hosts.length, times = time_s.flat().length;
  if (times !== n * n) return note(`No picture: ${times} times for ${counted(n, 'host')}.`);
  const median = medianPair(time_s);
  if (median === null) return note('No pair was measured.');
  const cell = Math.min(Math.max(640 / n, 2), 40), side = n * cell, around = 2;
  const names = hosts.map(({name}) => name.length > 20 ? `${name.slice(0, 17)}...` : name);
  const edge = 34 + 7.2 * Math.max(...names.map((name) => name.length));  // left of and above cells
  const stepOf = (i, j) =>
      i === j || time_s[i][j] === null ? null : heatStep(time_s[i][j] / median);
  const labels = labelled(n, suspects.hosts, cell, 12).flatMap((i) => {
    const suspect = suspects.hosts.has(i), middle = (i + 0.5) * cell + 4;
    const kind = suspect ? 'text.host.suspect' : 'text.host';
    const words = suspect ? `\u25b8 ${names[i]}` : names[i];
    return [svg(kind, {x: -8, y: middle, 'text-anchor': 'end'}, words),
            svg(kind, {transform: `translate(${middle} -8) rotate(-90)`}, words)];
  });
  const diagonal = names.map((_, i) => `M${i} ${i}h1v1h-1z`).join('');
  const size = edge + side + 8;
  const map = svg('svg.map', {
    viewBox: `0 0 ${size} ${size}`, width: size, height: size, role: 'img',
    // A large map is moved sideways on a telephone, before its labels become too small to read.
    style: n > 10 ? 'min-width:34rem' : '',
    'aria-label': `Times from each host (row) to each host (column), ${sizeText(size_bytes)}`},
    svg('text.title', {x: edge + side / 2, y: 12, 'text-anchor': 'middle'}, 'to'),
    svg('text.title', {transform: `translate(12 ${edge + side / 2}) rotate(-90)`,
                       'text-anchor': 'middle'}, 'from'),
    svg('g', {transform: `translate(${edge} ${edge})`},
        svg('rect.missing', {width: side, height: side}),
        svg('g', {transform: `scale(${cell})`, 'shape-rendering': 'crispEdges'},
            cellPaths(n, stepOf).map((d, i) => svg('path', {d, style: `fill:var(--h${i})`})),
            svg('path', {d: diagonal, style: 'fill:var(--soft)'})),
        cellTitles({n, cell, time_s, median, hosts}),
        [...suspects.hosts].map((host) => hostMarks(host, cell, side)),
        suspects.links.map(([from, to]) => svg('rect.mark.link', {
          x: to * cell - around, y: from * cell - around,
          width: cell + 2 * around, height: cell + 2 * around})),
        labels));
  return [heatLegend(median), html('div.scroll', {}, map)];
}
function heatLegend(median) {
  const sign = (name, style, words) => html('span', {},
      svg('svg', {width: 14, height: 14, 'aria-hidden': true},
          svg(name, {x: 1, y: 1, width: 12, height: 12, style})), ` ${words}`);
  return html('p.legend', {},
      html('span', {}, `Time, in medians of all pairs (${secondsText(median)}):`),
      heatSteps.map(([, words], i) => sign('rect.swatch', `fill:var(--h${i})`, words)),
      sign('rect.missing.swatch', '', 'not measured'), sign('rect.mark', '', 'suspect'));
}
function maps(record) {
  const {hosts, pairs} = record, hostsOfSmallMaps = 10;  // two maps fit side by side
  if (pairs.length === 0 || hosts.length < 2) return null;
  const rails = pairs.some((matrix) => matrix.rail > 0), suspects = suspectsOf(record);
  return [heading('Pairs of hosts'),
          note('A row is a sender, a column a receiver. A host that sends slowly is a row of ' +
               'slow cells, one that receives slowly a column; a slow link is a single cell.' +
               (rails ? ' Rail 1 is between the second ranks of each host.' : '')),
          html(hosts.length <= hostsOfSmallMaps ? 'div.maps.small' : 'div.maps', {},
               pairs.map((matrix) => {
                 const size = sizeText(matrix.size_bytes);
                 return html('figure', {}, html('figcaption', {}, html('strong', {},
                     rails ? `rail ${matrix.rail}, ${size}` : size)),
                     heatMap(matrix, hosts, suspects));
               }))];
}

// ---- Curves over logarithmic axes. Points: size_bytes, and rates in bytes per second.
const drawn = (point) => point.size_bytes > 0 && point.busbw_bytes_per_s > 0;
const limited = (point) => point.size_bytes > 0 && point.limit_bytes_per_s > 0;
const below = (point) =>
    drawn(point) && limited(point) && point.busbw_bytes_per_s < point.limit_bytes_per_s;
const withInterval = (point) => drawn(point) && point.low_bytes_per_s > 0 &&
    point.low_bytes_per_s <= point.high_bytes_per_s;

// Returns where a value between low and high is between the pixels begin and end. A single value
// gets room of a factor of 2 on both sides.
function logAxis(low, high, begin, end) {
  if (!(high > low * 1.0001)) [low, high] = [low / 2, low * 2];
  return {low, high,
          pixel: (value) => begin + (end - begin) * Math.log(value / low) / Math.log(high / low)};
}
// Returns values that people count in, at least three if the axis is not very short: powers of 10,
// with 2 and 5 between them, or with ever finer steps between them.
function decimalTicks({low, high}) {
  const tenths = Array.from({length: 90}, (_, i) => (i + 10) / 10);
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  let ticks = [];
  for (const mantissas of [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], tenths]) {
    ticks = [];
    const step = mantissas.length === 1 ? Math.max(1, Math.trunc((last - first) / 8)) : 1;
    for (let exponent = first; exponent <= last; exponent += step)
      ticks.push(...mantissas.map((mantissa) => mantissa * 10 ** exponent)
                     .filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001));
    if (ticks.length >= 3) break;
  }
  return ticks;
}
// Returns powers of 2, at most `most` of them, equally far apart.
function binaryTicks({low, high}, most) {
  const first = Math.ceil(Math.log2(low) - 1e-9), last = Math.floor(Math.log2(high) + 1e-9);
  const step = Math.max(1, Math.trunc((last - first + most) / most)), ticks = [];
  for (let exponent = first; exponent <= last; exponent += step) ticks.push(2 ** exponent);
  return ticks;
}
// Returns runs of points that `shown` accepts: a point that was not measured is a gap.
function runs(points, shown) {
  const all = [[]];
  for (const point of points)
    if (shown(point)) all.at(-1).push(point);
    else all.push([]);
  return all.filter((run) => run.length > 0);
}
const plot = {width: 520, height: 330, left: 74, right: 436, top: 14, bottom: 284};
const colour = (series) => ({style: `--c:var(--c${series})`});

// Returns a shape for each series, so that grey print tells them apart.
function marker(series, x, y) {
  if (series % 3 === 0) return svg('circle.series', {cx: x, cy: y, r: 3});
  if (series % 3 === 1) return svg('rect.series', {x: x - 3, y: y - 3, width: 6, height: 6});
  return svg('path.series', {d: `M${x} ${y - 4}l4 7h-8z`});
}
// Returns the parts of one curve: interval, limit, line and points.
function curveParts({points}, series, x, y) {
  const ends = (run, key) =>
      run.map((point) => `${x.pixel(point.size_bytes)},${y.pixel(point[key])}`);
  const line = (name, run, key) => svg(name, {points: ends(run, key).join(' ')});
  const bands = runs(points, withInterval).map((run) => {
    const corners = [...ends(run, 'high_bytes_per_s'), ...ends(run, 'low_bytes_per_s').reverse()];
    // The band of one point alone has no area.
    return run.length === 1 ? svg('polyline.line.band', {points: corners.join(' ')})
                            : svg('polygon.series.band', {points: corners.join(' ')});
  });
  const limits = runs(points, limited).map((run) => {
    if (run.length > 1) return line('polyline.limit', run, 'limit_bytes_per_s');
    const at = x.pixel(run[0].size_bytes), height = y.pixel(run[0].limit_bytes_per_s);
    return svg('path.limit', {d: `M${at - 12} ${height}h24`});
  });
  const lines = runs(points, drawn).map((run) => line('polyline.line', run, 'busbw_bytes_per_s'));
  const marks = points.filter(drawn).map((point) => {
    const left = x.pixel(point.size_bytes), top = y.pixel(point.busbw_bytes_per_s);
    let words = `${sizeText(point.size_bytes)}: ${rateText(point.busbw_bytes_per_s)}`;
    if (withInterval(point))
      words += ` [${rateText(point.low_bytes_per_s)}, ${rateText(point.high_bytes_per_s)}]`;
    if (limited(point)) words += `, limit ${rateText(point.limit_bytes_per_s)}`;
    return svg('g', {}, svg('title', {}, words), marker(series, left, top),
               below(point) ? svg('path.below', {d: `M${left - 5} ${top - 5}l10 10m0 -10l-10 10`})
                            : null);
  });
  return svg('g', colour(series), bands, limits, lines, marks);
}
function grid(x, y) {
  const {left, right, top, bottom} = plot, middle = {'text-anchor': 'middle'};
  return [
    ...decimalTicks(y).flatMap((tick) => [
      svg('path.grid', {d: `M${left} ${y.pixel(tick)}H${right}`}),
      svg('text.tick', {x: left - 7, y: y.pixel(tick) + 4, 'text-anchor': 'end'}, rateText(tick))]),
    ...binaryTicks(x, 6).flatMap((tick) => [
      svg('path.grid', {d: `M${x.pixel(tick)} ${top}V${bottom}`}),
      svg('text.tick', {x: x.pixel(tick), y: bottom + 16, ...middle}, sizeText(tick))]),
    svg('path.axis', {d: `M${left} ${top}V${bottom}H${right}`}),
    svg('text.title', {x: (left + right) / 2, y: plot.height - 6, ...middle}, 'size'),
    svg('text.title', {transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, ...middle},
        'busbw')];
}
// Returns names at the right ends of the lines, moved down until none covers another.
function endLabels(group, y) {
  const labels = [], lineHeight = 14;
  group.forEach((curve, series) => {
    const last = curve.points.findLast(drawn), limit = curve.points.findLast(limited);
    const words = group.length === 1 ? 'busbw' : counted(curve.ranks, 'rank');
    if (last)
      labels.push({y: y.pixel(last.busbw_bytes_per_s), name: 'text.end.series', words, series});
    if (limit && !labels.some((label) => label.words === 'limit'))
      labels.push({y: y.pixel(limit.limit_bytes_per_s), name: 'text.end', words: 'limit', series});
  });
  labels.sort((a, b) => a.y - b.y);
  let free = plot.top;
  return labels.map(({y, name, words, series}) => {
    const at = Math.max(y, free);
    free = at + lineHeight;
    return svg(name, {x: plot.right + 8, y: at + 4, ...colour(series)}, words);
  });
}
function picture(group) {
  const points = group.flatMap((curve) => curve.points).filter(drawn);
  if (points.length === 0) return note('No size was measured.');
  const sizes = points.map((point) => point.size_bytes);
  const rates = points.flatMap((point) => [point.busbw_bytes_per_s, point.low_bytes_per_s,
      point.high_bytes_per_s, point.limit_bytes_per_s]).filter((rate) => rate > 0);
  const room = 1.12;
  const x = logAxis(Math.min(...sizes), Math.max(...sizes), plot.left + 6, plot.right - 6);
  const y = logAxis(Math.min(...rates) / room, Math.max(...rates) * room, plot.bottom, plot.top);
  return svg('svg.curve', {viewBox: `0 0 ${plot.width} ${plot.height}`, width: plot.width,
                           height: plot.height, role: 'img',
                           'aria-label': 'Bus bandwidth over size'},
             grid(x, y), group.map((curve, series) => curveParts(curve, series, x, y)),
             endLabels(group, y));
}
// Returns what is below its limit, without bandwidth, or not measured.
function curveNote(group) {
  const points = group.flatMap((curve) => curve.points), shown = 4;
  const slow = points.filter(below).map((point) => `${sizeText(point.size_bytes)}: ` +
      `${rateText(point.busbw_bytes_per_s)} of ${rateText(point.limit_bytes_per_s)}`);
  const empty = new Set(points.filter((point) => point.busbw_bytes_per_s === 0)
                            .map((point) => sizeText(point.size_bytes)));
  const missing = points.filter((point) => !drawn(point) && point.busbw_bytes_per_s !== 0).length;
  const lines = [];
  if (slow.length > 0)
    lines.push(`Below the limit at ${slow.slice(0, shown).join('; ')}` +
               (slow.length > shown ? `; and ${slow.length - shown} more.` : '.'));
  if (empty.size > 0 && points.some(drawn))
    lines.push(`${[...empty].join(', ')}: no data leave a rank, so there is no bandwidth.`);
  if (missing > 0 && points.some(drawn)) lines.push(`${counted(missing, 'size')} not measured.`);
  return lines.length > 0 ? note(lines.join(' ')) : null;
}
// Returns a figure for the curves of the same stage, program and type together, those with a point
// below its limit first.
function curves(record) {
  if (record.curves.length === 0) return null;
  const mostSeries = 6, groups = [];  // colours and shapes that can be told apart
  for (const curve of record.curves) {
    const group = groups.find(([first, ...rest]) => rest.length + 1 < mostSeries &&
        ['stage', 'program', 'datatype'].every((key) => first[key] === curve[key]));
    if (group) group.push(curve);
    else groups.push([curve]);
  }
  const slow = (group) => group.some((curve) => curve.points.some(below));
  groups.sort((a, b) => slow(b) - slow(a));
  return [heading('Bus bandwidth over size'),
          note('Both axes are logarithmic. The band is each time\u2019s interval, the dashed line ' +
               'the limit, a cross a size below its limit.'),
          html('div.plots', {}, groups.map((group) => {
            const [{program, datatype, ranks, stage}] = group;
            return html('figure.plot', {}, html('figcaption', {},
                html('strong', {}, `${program} ${datatype}` +
                                   (group.length === 1 ? `, ${ranks} ranks` : '')),
                html('span', {}, ` stage ${stage}`), curveNote(group)), picture(group));
          }))];
}
