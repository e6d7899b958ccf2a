// SPDX-License-Identifier: BSD-2-Clause
'use strict';
// Draws the page from its data (schemas/page.md). Names from outside only ever become text nodes.
// What could turn the direction of other text, or is a control character, is shown as what it is not.
const steers = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const D = JSON.parse(document.getElementById('data').textContent, (_, value) => typeof value === 'string' ? value.replace(steers, '\ufffd') : value);
const $ = id => document.getElementById(id);
const B = D.base;
const SVG = 'http://www.w3.org/2000/svg';

// ---- elements and numbers ----

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === 'style') Object.assign(node.style, value);
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? '' : value);
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

function bytes(n) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0, size = Math.abs(n);
  for (; size >= 1023.95 && unit < 5; unit++) size /= 1024;
  return (n < 0 ? '−' : '') + (unit ? size.toFixed(1) : size.toLocaleString('en')) + ' ' + (unit || size !== 1 ? units[unit] : 'byte');
}
const count = n => n.toLocaleString('en').replace('-', '−');
function time(ns) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
  if (ns >= 120e9) return Math.floor(ns / 60e9) + ' min ' + Math.round(ns % 60e9 / 1e9) + ' s';
  for (const [size, unit] of units)
    if (ns >= size * 0.9995) return +(ns / size).toPrecision(3) + ' ' + unit;
  return ns + ' ns';
}
const about = D.sampled ? '~' : '';
function percent(part, whole) {
  const of = 100 * part / whole;
  return !whole ? '–' : !part ? '0 %' : of < 0.05 ? '< 0.1 %' : of.toFixed(of < 9.95 || of > 99 && of < 99.95 ? 1 : 0) + ' %';
}
const plural = (n, word) => count(n) + ' ' + word + (n === 1 ? '' : 's');

// Leaves out the middle of a text: the ends of names tell them apart.
function middle(text, room) {
  const all = [...text];
  if (all.length <= room) return text;
  if (room < 3) return '';
  const tail = Math.floor((room - 1) * 0.55);
  return all.slice(0, room - 1 - tail).join('') + '…' + (tail ? all.slice(-tail).join('') : '');
}

// A change against the base: "+1.2 MiB, +12 %".
function change(now, before, show, other = 'the base') {
  const by = now - before;
  if (by === 0) return el('span', {}, 'as ' + other);
  return el('span', { class: by > 0 ? 'up' : 'down' },
    (by > 0 ? '+' : '') + show(by) + (before ? ', ' + (by > 0 ? '+' : '−') + percent(Math.abs(by), before) : ', new'));
}

// ---- facts ----

function facts() {
  const f = D.facts, b = B && B.facts;
  const name = D.program.split('/').pop() || D.program;
  document.title = name + ' – heap profile';
  $('program').textContent = name;
  $('about').textContent = [D.recorded && 'recorded ' + D.recorded, 'ran ' + time(D.to - D.from), plural(D.processes, 'process').replace('processs', 'processes'),
    plural(D.threads, 'thread'), D.ending !== 'ended' && D.ending].filter(Boolean).join(' · ');
  $('command').textContent = D.argv !== name ? D.argv || (D.program !== name ? D.program : '') : '';
  const card = (name, value, show, more, before) => el('li', {}, el('span', { class: 'name' }, name),
    el('span', { class: 'value', 'data-value': value }, about + show(value)),
    el('span', { class: 'more' }, b && before !== undefined ? change(value, before, show) : more));
  const rss = D.rss.reduce((most, [, size]) => Math.max(most, size), 0);
  $('cards').append(...[
    card('Peak', f.peak_bytes, bytes, 'live at once, at ' + time(f.peak_ns - D.from), b && b.peak_bytes),
    rss && card('Resident at most', rss, bytes, 'memory that the kernel counted', B && B.rss || undefined),
    card('Allocated', f.bytes, bytes, 'in ' + about + plural(f.allocations, 'block'), b && b.bytes),
    card('Blocks', f.allocations, count, about + percent(f.short_lived, f.allocations) + ' lived under 1 ms', b && b.allocations),
    card('Live at the end', f.live_bytes, bytes, 'in ' + about + plural(f.live_count, 'block'), b && b.live_bytes),
    D.leaks_known && card('Leaked', f.leaked_bytes, bytes, f.leaked_count ? 'in ' + about + plural(f.leaked_count, 'block') : 'nothing',
      b && B.leaks_known ? b.leaked_bytes : undefined),
  ].filter(Boolean));
  $('doubts').append(...D.doubts.map(text => el('li', {}, text)));
  const parts = [['timeline', 'Over time'], ['findings', 'Findings'], ['flame', 'Who holds it'], ['types', 'Types'], ['leaks', 'Leaks'],
    ['spread', 'Sizes and lifetimes'], ...(D.trend.length ? [['trend', 'Over many runs']] : [])];
  for (const [id, title] of parts) $('links').append(el('a', { href: '#' + id }, title));
  $('foot').append(
    D.filter && el('p', {}, 'Only allocations of the filter ', el('code', {}, D.filter), D.at ? ' that were live at ' + D.at : '') || '',
    !D.filter && D.at ? el('p', {}, 'Only allocations that were live at ' + D.at) : '',
    B ? el('p', {}, 'Compared with ' + B.program + (B.recorded ? ', recorded ' + B.recorded : '') + '. Red is more than there, blue is less.') : '',
    ...D.left.map(text => el('p', {}, text)),
    el('p', {}, `Made by mprof-report ${D.version}. This page is one file and loads nothing. Its numbers are in it as JSON, in the element "data".`));
}

// ---- timeline ----

// The steps of an axis: round numbers, of bytes powers of two.
function steps(most, binary) {
  let step = binary ? 2 ** Math.floor(Math.log2(most / 3 || 1)) : 10 ** Math.floor(Math.log10(most / 4 || 1));
  if (!binary) step *= [1, 2, 5, 10].find(by => most / (step * by) <= 5) || 10;
  step = Math.max(step, 1);
  const list = [];
  for (let at = 0; at <= most; at += step) list.push(at);
  return list;
}

const moment = { at: -1, cursor: null };

function timeline() {
  const chart = $('chart'), W = Math.max(320, chart.clientWidth), H = 300, L = 66, R = 12, T = 14, F = 24, t = D.timeline, n = t.live.length;
  const all = D.rss, rss = $('resident').checked ? all : [], base = B && B.timeline.live;
  const most = Math.max(1, ...t.peak, D.facts.peak_bytes, ...rss.map(r => r[1]), ...(base || []));
  const span = D.to - D.from || 1;
  const x = ns => L + (ns - D.from) / span * (W - L - R);
  const slot = i => L + (i + 1) / n * (W - L - R);
  const y = size => T + (1 - size / most) * (H - T - F);
  const line = points => points.map(([a, b], i) => (i ? 'L' : 'M') + a.toFixed(1) + ' ' + b.toFixed(1)).join('');
  const g = svg('svg', { viewBox: `0 0 ${W} ${H}`, width: W, height: H, 'aria-hidden': true });
  for (const at of steps(most, true)) g.append(
    svg('line', { x1: L, x2: W - R, y1: y(at), y2: y(at), stroke: 'var(--grid)' }),
    svg('text', { x: L - 7, y: y(at) + 4, 'text-anchor': 'end' }, at ? bytes(at) : '0'));
  const ticks = steps(span, false), skip = Math.ceil(ticks.length * 75 / W);
  ticks.forEach((at, i) => i % skip || x(D.from + at) > W - 40 && i || g.append(
    svg('text', { x: x(D.from + at), y: H - 7, 'text-anchor': at ? 'middle' : 'start' }, at ? time(at) : '0')));
  let below = new Array(n).fill(0);
  t.layers.forEach((layer, i) => {
    const top = below.map((v, j) => v + layer.bytes[j]);
    const up = [[L, y(0)], ...top.map((v, j) => [slot(j), y(v)])], down = [[L, y(0)], ...below.map((v, j) => [slot(j), y(v)])];
    g.append(svg('path', { d: line(up) + line(down.reverse()).replace('M', 'L') + 'Z', fill: `var(--c${i})`, 'fill-opacity': 0.88 }));
    below = top;
  });
  const stroke = (points, color, dash) => g.append(svg('path', { d: line(points), fill: 'none', stroke: color, 'stroke-width': dash ? 1.6 : 1.1, 'stroke-dasharray': dash }));
  stroke(t.peak.map((v, j) => [slot(j - 0.5), y(v)]), 'var(--ink)');
  if (base) stroke(base.map((v, j) => [slot(j), y(v)]), 'var(--down)', '5 4');
  if (rss.length > 1) stroke(rss.map(([ns, v]) => [x(ns), y(v)]), 'var(--rss)', '2 3');
  let last = -1e9;
  for (const [ns, name] of D.marks) {
    g.append(svg('line', { x1: x(ns), x2: x(ns), y1: T, y2: H - F, stroke: 'var(--accent)', 'stroke-dasharray': '3 3' }, svg('title', {}, name)));
    if (x(ns) - last < 70) continue;
    g.append(svg('text', { x: x(ns) + 4, y: H - F - 6, style: { fill: 'var(--accent)' } }, middle(name, 18)));
    last = x(ns);
  }
  const px = x(D.facts.peak_ns), right = px > W * 0.75, height = Math.max(y(D.facts.peak_bytes) - 5, 12);
  g.append(svg('circle', { cx: px, cy: y(D.facts.peak_bytes), r: 4, fill: 'var(--up)' }),
    svg('text', { x: px + (right ? -8 : 8), y: height, 'text-anchor': right ? 'end' : 'start', style: { fill: 'var(--ink)', fontWeight: 600 } },
      'peak ' + about + bytes(D.facts.peak_bytes)));
  moment.cursor = svg('line', { y1: T, y2: H - F, stroke: 'var(--ink)', visibility: 'hidden' });
  g.append(moment.cursor);
  chart.replaceChildren(g);
  moment.read = i => {
    const at = moment.at = Math.min(n - 1, Math.max(0, i));
    fill(moment.cursor, { x1: slot(at), x2: slot(at), visibility: 'visible' }, []);
    const until = D.from + (at + 1) / n * span, seen = all.filter(r => r[0] <= until).pop();
    $('slot').textContent = [`at ${time(until - D.from)}: ${about}${bytes(t.live[at])} live`, t.peak[at] > t.live[at] && `up to ${bytes(t.peak[at])} just before`,
      `${about}${bytes(t.allocated[at])} allocated in ${time(span / n)}`, seen && `${bytes(seen[1])} resident`, base && `base ${bytes(base[at])}`,
      ...t.layers.map(l => [l.bytes[at], l.name]).filter(l => l[0]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(l => `${middle(l[1], 40)} ${bytes(l[0])}`)].filter(Boolean).join(' · ');
  };
  moment.point = px => moment.read(Math.floor((px - L) / (W - L - R) * n));
  if (moment.at >= 0) moment.read(moment.at);
  const entry = (color, name, dash) => el('li', { title: name }, el('i', dash ? { class: 'stroke', style: { borderTopColor: color, borderTopStyle: dash } } : { style: { background: color } }), el('span', {}, name));
  $('layers').replaceChildren(...t.layers.map((l, i) => entry(`var(--c${i})`, l.name)).reverse(), entry('var(--ink)', 'most within a moment', 'solid'),
    ...(rss.length > 1 ? [entry('var(--rss)', 'resident set', 'dotted')] : []), ...(base ? [entry('var(--down)', 'base, over its own run', 'dashed')] : []));
}

function timelines() {
  const t = D.timeline, n = t.live.length, span = D.to - D.from || 1, chart = $('chart');
  const most = D.rss.reduce((so, r) => Math.max(so, r[1]), 0);
  $('with-resident').hidden = D.rss.length < 2;
  // A resident set of many times the heap would press the heap flat.
  $('resident').checked = D.rss.length > 1 && most <= 3 * D.facts.peak_bytes;
  $('resident').addEventListener('change', timeline);
  $('timeline-hint').textContent = t.layers.length > 1 ? 'Live bytes by the innermost function of your own code.' : 'Live bytes.';
  chart.setAttribute('aria-label', `Live bytes over ${time(span)}: the peak is ${bytes(D.facts.peak_bytes)} after ${time(D.facts.peak_ns - D.from)}, `
    + `${bytes(t.live[n - 1])} are live at the end. The left and right arrows read moments.`);
  timeline();
  const peak = Math.floor((D.facts.peak_ns - D.from) / span * n);
  chart.addEventListener('pointermove', event => moment.point(event.clientX - chart.getBoundingClientRect().left - 1));
  chart.addEventListener('focus', () => moment.read(moment.at < 0 ? peak : moment.at));
  chart.addEventListener('keydown', event => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -n, End: n }[event.key];
    if (!by) return;
    event.preventDefault();
    moment.read((moment.at < 0 ? peak : moment.at) + by);
  });
}

// ---- findings ----

function findings() {
  const list = D.findings;
  $('found').append(...list.map(f => el('li', { class: 's' + f.severity }, el('b', {}, about + bytes(f.bytes)), el('span', {}, f.word),
    el('code', {}, f.user || '(no own code)'), f.type && el('span', { class: 'hint' }, 'type ', el('code', {}, f.type)),
    el('span', { class: 'hint' }, about + plural(f.count, 'block'))).cloneNode(true)));
  if (!list.length) $('found').append(el('li', {}, D.findings_unknown || 'No graph that ships with mprof found anything worth a line.'));
}

// ---- flame graph ----

const MEASURES = [['At peak', bytes], ['Live at end', bytes], ['Allocated', bytes], ['Blocks', count]];
const flame = { measure: 0, own: false, root: null, at: null, rows: [], boxes: new Map(), search: null, trees: {} };
const special = { [-1]: '(smaller)', [-2]: '(no own code)', [-3]: '(no stack)' };
const nameOf = node => node.name < 0 ? special[node.name] : D.names[node.name][0];
const wholeOf = node => node.name < 0 ? special[node.name] : D.names[node.name][1] || D.names[node.name][0];
const isOwn = name => name >= 0 && D.names[name][2] === 1;

function newNode(parent, name) {
  const node = { parent, name, v: [0, 0, 0, 0], b: [0, 0, 0, 0], w: 0, children: [], by: new Map(), depth: parent ? parent.depth + 1 : 0 };
  if (parent) parent.children.push(node), parent.by.set(name, node);
  return node;
}
const childOf = (parent, name) => parent.by.get(name) || newNode(parent, name);

// All functions, or those of the own code with the library function that each called to allocate, as the browser hides libraries.
// The arrays have a parent before its children, so loops do for both directions.
function tree(own) {
  if (flame.trees[own]) return flame.trees[own];
  const t = D.tree, n = t.parent.length, root = newNode(null, -4), to = new Array(n), nodes = [root];
  const has = new Array(n);
  for (let i = n - 1; i >= 0; i--) {
    has[i] = has[i] || isOwn(t.name[i]);
    if (has[i] && t.parent[i] >= 0) has[t.parent[i]] = true;
  }
  for (let i = 0; i < n; i++) {
    const above = t.parent[i] < 0 ? { node: root } : to[t.parent[i]];
    let node = null, state = above;
    if (i === 0) node = root, state = { node: root };
    else if (!own || above.plain || t.name[i] === -3) node = childOf(above.node, t.name[i]), state = { node, plain: above.plain };
    else if (above.inside) state = above;
    else if (isOwn(t.name[i])) node = childOf(above.node, t.name[i]), state = { node };
    else if (has[i]) state = above;
    else if (above.node === root) {
      const none = childOf(root, -2);
      add(none, i);
      node = childOf(none, t.name[i]), state = { node, plain: true };
    } else node = childOf(above.node, t.name[i]), state = { node, inside: true };
    if (node) add(node, i);
    to[i] = state;
  }
  function add(node, i) {
    for (let m = 0; m < 4; m++) {
      node.v[m] += t.values[m][i];
      if (t.base) node.b[m] += t.base[m][i];
    }
  }
  for (const node of nodes) nodes.push(...node.children); // grows while it is walked
  return flame.trees[own] = { root, nodes };
}

// The width of a node: with a base the larger one of each part, so that what went away has room, too.
function weigh() {
  const { nodes } = tree(flame.own), m = flame.measure;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    let v = node.v[m], b = node.b[m], w = 0;
    for (const child of node.children) v -= child.v[m], b -= child.b[m], w += child.w;
    node.w = w + Math.max(0, v, B ? b : 0);
    node.children.sort((p, q) => (p.name === -1) - (q.name === -1) || q.w - p.w || (nameOf(p) < nameOf(q) ? -1 : 1));
  }
}

function hash(text) {
  let h = 7;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
  return h % 4;
}

function colour(node) {
  const m = flame.measure, v = node.v[m], b = node.b[m];
  if (!B || node.name === -1) return null;
  const part = (v - b) / Math.max(v, b, 1), dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const strong = Math.round(Math.abs(part) * 62), hue = part > 0 ? 4 : 212;
  return part === 0 ? (dark ? '#3a3f47' : '#e4e5e8') : `hsl(${hue} ${20 + strong}% ${dark ? 30 + strong / 6 : 88 - strong / 2.2}%)`;
}

const share = node => percent(node.v[flame.measure], tree(flame.own).root.v[flame.measure]);
function label(node) {
  const [, show] = MEASURES[flame.measure], v = node.v[flame.measure];
  return `${node.parent ? nameOf(node) : 'everything'}, ${about}${show(v)}, ${share(node)}` + (B ? `, base ${show(node.b[flame.measure])}` : '');
}

function draw(again) {
  const box = $('boxes'), width = box.clientWidth || 1, root = flame.root, room = el('div', { class: 'room' }), test = flame.search;
  flame.boxes = new Map(), flame.rows = [];
  const place = (node, left, wide, row, above) => {
    const name = node.parent ? nameOf(node) : 'everything', letters = Math.floor((wide - 9) / 7.25);
    const ground = colour(node);
    const f = el('div', { class: 'f' + (node.name === -1 ? ' rest' : node.parent && !isOwn(node.name) ? ' lib' : ' h' + hash(name)) + (above ? ' above' : '')
        + (test ? test(node) ? ' hit' : ' miss' : ''), role: 'treeitem', tabindex: -1, 'aria-level': row + 1, 'aria-label': label(node), 'aria-expanded': node.children.length ? !above : undefined,
      style: { left: left + 'px', width: Math.max(wide, 0.8) + 'px', top: row * 20 + 'px', padding: wide < 14 ? '0' : '' } }, letters > 1 ? middle(name, letters) : '');
    if (ground && !(test && test(node))) f.style.background = ground;
    if (ground && test && test(node)) f.style.background = '';
    f.node = node;
    flame.boxes.set(node, f);
    (flame.rows[row] = flame.rows[row] || []).push(node);
    room.append(f);
  };
  const up = [];
  for (let node = root.parent; node; node = node.parent) up.unshift(node);
  up.forEach((node, row) => place(node, 0, width, row, true));
  let level = [[root, 0, width]], row = up.length;
  while (level.length) {
    const next = [];
    for (const [node, left, wide] of level) {
      place(node, left, wide, row, false);
      let at = left;
      for (const child of node.children) {
        const of = node.w ? wide * child.w / node.w : 0;
        if (of >= 0.6) next.push([child, at, of]);
        at += of;
      }
    }
    level = next;
    row++;
  }
  room.style.height = row * 20 + 'px';
  box.replaceChildren(room);
  if (box.clientWidth !== width && again !== true) return draw(true); // a scroll bar came or went
  if (!flame.boxes.has(flame.at)) flame.at = root;
  flame.boxes.get(flame.at).tabIndex = 0;
  $('out').hidden = !root.parent;
}

// Tells about a box: its numbers, its place, its own part, and the way to it.
function tell(node) {
  const m = flame.measure, way = [];
  for (let up = node.parent; up && up.parent; up = up.parent) way.unshift(up);
  const own = node.v[m] - node.children.reduce((sum, child) => sum + child.v[m], 0), show = MEASURES[m][1];
  $('box').replaceChildren(el('code', {}, node.parent ? wholeOf(node) : 'everything'), ' ',
    node.name >= 0 && D.names[node.name][3] ? el('span', { class: 'tag' }, D.names[node.name][3]) : '',
    el('div', {}, `${about}${show(node.v[m])}, ${share(node)}`, own > 0 && node.children.length ? `, ${show(own)} of it by itself` : '',
      B ? [' · ', change(node.v[m], node.b[m], show)] : ''),
    el('div', { class: 'hint' }, MEASURES.map(([name, shown], i) => `${name.toLowerCase()} ${about}${shown(node.v[i])}`).join(' · ')),
    way.length ? el('div', { class: 'path' }, way.slice(-12).map((up, i) => [i || way.length > 12 ? ' › ' : '',
      el('button', { type: 'button', onclick: () => zoom(up) }, middle(nameOf(up), 40))])) : '');
}

function zoom(node) {
  flame.root = flame.at = node;
  draw();
  tell(node);
}
function walk(node) {
  if (!node) return;
  if (!flame.boxes.has(node)) flame.root = node.parent || node, flame.at = node, draw();
  const box = flame.boxes.get(node) || flame.boxes.get(flame.root);
  for (const other of flame.boxes.values()) other.tabIndex = -1;
  flame.at = box.node;
  box.tabIndex = 0;
  box.focus({ preventScroll: true });
  box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  tell(box.node);
}

// Finds by a part of the whole name, letter case aside, or by a pattern between slashes.
function find(text) {
  flame.search = null;
  let told = '';
  if (text) {
    let test = name => name.toLowerCase().includes(text.toLowerCase());
    const pattern = /^\/(.+)\/$/.exec(text);
    try { if (pattern) { const e = new RegExp(pattern[1]); test = name => e.test(name); } }
    catch { told = 'not a pattern'; }
    flame.search = node => node.parent !== null && test(wholeOf(node));
    let sum = 0, hits = 0;
    const { nodes, root } = tree(flame.own), inside = new Set();
    for (const node of nodes) {
      const hit = flame.search(node);
      hits += hit;
      if (hit && !inside.has(node.parent)) sum += node.v[flame.measure];
      if (hit || inside.has(node.parent)) inside.add(node);
    }
    told = told || `${plural(hits, 'box').replace('boxs', 'boxes')}, ${percent(sum, root.v[flame.measure])}`;
  }
  $('matches').textContent = told;
  draw();
}
function next(backward) {
  if (!flame.search) return;
  const order = tree(flame.own).nodes.filter(flame.search), at = order.indexOf(flame.at);
  if (order.length) walk(order[(at + (backward ? -1 : 1) + order.length) % order.length]);
}

function choose() {
  flame.root = flame.at = tree(flame.own).root;
  weigh();
  find($('search').value.trim());
  tell(flame.root);
}

function flames() {
  const pick = (id, name, list, chosen, take) => $(id).append(...list.map((text, i) => el('label', {}, el('input', { type: 'radio', name, value: i,
    checked: i === chosen, onchange: () => { take(i); choose(); } }), text)));
  flame.own = D.names.some(name => name[2] === 1);
  flame.measure = [0, 1, 2].find(m => D.tree.values[m][0] > 0) || 0;
  pick('measures', 'measure', MEASURES.map(m => m[0]), flame.measure, i => { flame.measure = i; });
  pick('frames', 'frames', ['Your code', 'All'], flame.own ? 0 : 1, i => { flame.own = i === 0; });
  const box = $('boxes');
  box.addEventListener('click', event => { const f = event.target.closest('.f'); if (f) zoom(f.node); });
  box.addEventListener('pointerover', event => { const f = event.target.closest('.f'); if (f) tell(f.node), f.title = label(f.node); });
  box.addEventListener('pointerleave', () => tell(flame.at));
  box.addEventListener('focusin', event => { const f = event.target.closest('.f'); if (f) flame.at = f.node, tell(f.node); });
  box.addEventListener('keydown', event => {
    const node = flame.at, beside = node.parent ? node.parent.children : [node], i = beside.indexOf(node);
    const to = { ArrowUp: node.parent, ArrowDown: node.children[0], ArrowLeft: beside[i - 1], ArrowRight: beside[i + 1], Home: tree(flame.own).root };
    if (event.key in to) walk(to[event.key]);
    else if (event.key === 'Enter' || event.key === ' ') zoom(node), flame.boxes.get(node).focus({ preventScroll: true });
    else if (event.key === 'Escape' || event.key === 'Backspace') { if (flame.root.parent) zoom(flame.root.parent), flame.boxes.get(flame.root).focus({ preventScroll: true }); }
    else return;
    event.preventDefault();
  });
  $('out').addEventListener('click', () => zoom(tree(flame.own).root));
  $('search').addEventListener('input', () => find($('search').value.trim()));
  $('search').addEventListener('keydown', event => {
    if (event.key === 'Enter') next(event.shiftKey);
    if (event.key === 'Escape') $('search').value = '', find('');
  });
  document.addEventListener('keydown', event => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') $('search').focus(), event.preventDefault();
    if (event.key === 'n' || event.key === 'N') next(event.key === 'N');
  });
  choose();
}

// ---- types ----

function types() {
  const columns = [['peak', 'At peak', bytes], ['live', 'Live at end', bytes], ['bytes', 'Allocated', bytes], ['count', 'Blocks', count]];
  const base = B && new Map(B.types.map(t => [t.whole || t.name, t]));
  let by = D.types.some(t => t.peak) ? 'peak' : 'bytes';
  const table = $('type-table');
  const show = () => {
    const most = Math.max(1, ...D.types.map(t => t[by]));
    const rows = [...D.types].sort((a, b) => b[by] - a[by]);
    table.replaceChildren(el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Type'), columns.map(([key, title]) => el('th', { scope: 'col', 'aria-sort': key === by && 'descending' },
      el('button', { type: 'button', onclick: () => { by = key; show(); } }, title, key === by ? ' ↓' : ''))))),
    el('tbody', {}, rows.map(t => el('tr', {}, el('td', { title: t.whole || t.name }, t.name, t.confidence !== 'exact' && el('span', { class: 'tag' }, t.confidence)),
      columns.map(([key, , shown]) => {
      const cell = el('td', { class: key === by ? 'bar-cell' : false, 'data-value': t[key] }, about + shown(t[key]));
      if (key === by) cell.style.setProperty('--part', 100 * t[key] / most + '%');
      const before = base && ((base.get(t.whole || t.name) || {})[key] || 0);
      if (base && before !== t[key]) cell.append(el('div', { class: t[key] > before ? 'up' : 'down' }, (t[key] > before ? '+' : '') + shown(t[key] - before)));
      return cell;
    })))));
  };
  show();
  $('types-hint').textContent = D.types_left ? `${plural(D.types_left, 'other type')} with less are not on this page.` : '';
}

// ---- leaks ----

function leaks() {
  const list = D.leaks;
  $('leaks-hint').textContent = !D.leaks_known ? 'The recording stopped before the program ended: these blocks were live then, and need not be leaks.'
    : list.length ? 'Blocks that were never freed, and that neither the runtime nor a suppression keeps, by the path of calls.'
    : 'Nothing leaked.';
  if (D.kept_bytes) $('leaks-hint').append(` The runtime or suppressions keep ${about}${bytes(D.kept_bytes)}.`);
  const most = leak => Math.max(1, ...leak.born);
  $('leak-list').append(...list.map((leak, i) => el('details', { open: i === 0 && list.length < 6 }, el('summary', {},
    el('b', { 'data-value': leak.bytes }, about + bytes(leak.bytes)), el('span', {}, about + plural(leak.blocks, 'block')),
    el('code', {}, leak.frames.filter(f => f[2]).slice(0, 2).map(f => D.names[f[0]][0]).join(' ← ') || (leak.frames.length ? D.names[leak.frames[0][0]][0] : '(no stack)')),
    leak.type && el('span', { class: 'tag' }, leak.type), leak.start && el('span', { class: 'tag' }, 'early'),
    leak.stacks > 1 && el('span', { class: 'hint' }, leak.stacks + ' stacks'),
    el('span', { class: 'births', role: 'img', 'aria-label': 'allocated in ' + leak.born.filter(Boolean).length + ' of ten parts of the run', title: 'blocks by tenths of the run' },
      leak.born.map(n => el('i', { style: { height: n ? Math.max(2, 14 * n / most(leak)) + 'px' : '1px', opacity: n ? 1 : .3 } })))),
  el('ol', { class: 'stack' }, leak.frames.map(f => el('li', { class: f[2] ? 'own' : false, title: D.names[f[0]][1] || false }, D.names[f[0]][0], ' ',
    f[1] && el('small', {}, f[1]), f[3] && el('pre', {}, f[3]))), leak.more > 0 && el('li', {}, `… ${plural(leak.more, 'more frame')}`)))));
  if (D.leaks_left) $('leak-list').append(el('p', { class: 'hint' }, `${plural(D.leaks_left, 'other group')} of ${about}${bytes(D.leaks_left_bytes)} ${D.leaks_left === 1 ? 'is' : 'are'} not on this page.`));
}

// ---- sizes and lifetimes ----

// Bars in two colours beside each other, each of its own scale: bytes and blocks.
function bars(id, title, rows, names) {
  const W = Math.max(260, $(id).clientWidth - 30), H = 200, F = 34, T = 8, n = rows.length, wide = W / Math.max(n, 1);
  const most = [1, 2].map(i => Math.max(1, ...rows.map(r => r[i])));
  const g = svg('svg', { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: 'img', 'aria-label': title });
  rows.forEach((row, i) => {
    for (const k of [1, 2]) {
      const height = (H - F - T) * row[k] / most[k - 1];
      g.append(svg('rect', { x: i * wide + wide * (k === 1 ? 0.12 : 0.5), y: H - F - height, width: Math.max(wide * 0.36, 0.5), height: Math.max(height, row[k] ? 1 : 0), rx: 1.5,
        fill: k === 1 ? 'var(--c0)' : 'var(--c1)' }, svg('title', {}, `${row[0]}: ${about}${bytes(row[1])} in ${about}${plural(row[2], 'block')}`)));
    }
    if (i % Math.ceil(n / (W / 66)) === 0) g.append(svg('text', { x: i * wide + wide / 2, y: H - F + 16, 'text-anchor': n === 1 ? 'middle' : i > n - 3 ? 'end' : i ? 'middle' : 'start' }, row[3]));
  });
  g.append(svg('line', { x1: 0, x2: W, y1: H - F, y2: H - F, stroke: 'var(--line)' }));
  $(id).replaceChildren(el('figcaption', {}, title), rows.length ? g : el('p', { class: 'hint' }, 'None.'),
    el('ul', { class: 'legend' }, ['bytes', 'blocks'].map((name, i) => el('li', {}, el('i', { style: { background: `var(--c${i})` } }), el('span', {}, name)))),
    el('details', {}, el('summary', {}, 'As a table'), el('table', {}, el('thead', {}, el('tr', {}, names.map(name => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, rows.map(row => el('tr', {}, el('td', {}, row[0]), el('td', { 'data-value': row[1] }, about + bytes(row[1])), el('td', { 'data-value': row[2] }, about + count(row[2]))))))));
}

function spread() {
  bars('sizes', 'Sizes of blocks', D.sizes.map(([from, to, size, n]) => [from === to ? bytes(from) : bytes(from) + ' to ' + bytes(to), size, n,
    bytes(to).replace('.0 ', ' ')]), ['Size', 'Bytes', 'Blocks']);
  bars('lifetimes', 'Lifetimes of freed blocks', D.lifetimes.map(([from, to, size, n]) => [time(from) + ' to ' + time(to), size, n, time(from)]), ['Lifetime', 'Bytes', 'Blocks']);
}

// ---- many runs ----

function trends() {
  $('trend').hidden = !D.trend.length;
  $('trends').replaceChildren(...D.trend.map(t => {
    const show = t.unit === 'bytes' ? bytes : t.unit === 'number' ? count : time, values = t.points.map(p => p[2]), n = values.length;
    const W = 360, H = 70, least = Math.min(...values), most = Math.max(...values);
    const x = i => n > 1 ? 6 + i / (n - 1) * (W - 12) : W / 2, y = v => most > least ? H - 8 - (v - least) / (most - least) * (H - 16) : H / 2;
    const g = svg('svg', { viewBox: `0 0 ${W} ${H}`, width: '100%', role: 'img', 'aria-label': `${t.name} over ${n} runs: from ${show(values[0])} to ${show(values[n - 1])}` },
      svg('path', { d: values.map((v, i) => (i ? 'L' : 'M') + x(i).toFixed(1) + ' ' + y(v).toFixed(1)).join(''), fill: 'none', stroke: 'var(--c0)', 'stroke-width': 1.6 }),
      t.points.map(([at, label, v], i) => svg('circle', { cx: x(i), cy: y(v), r: i === n - 1 ? 4 : 2.5, fill: i === n - 1 ? 'var(--up)' : 'var(--c0)' },
        svg('title', {}, [label, at.slice(0, 16).replace('T', ' '), show(v)].filter(Boolean).join(' · ')))));
    return el('figure', {}, el('figcaption', {}, t.name, ' ', el('span', { class: 'hint', 'data-value': values[n - 1] }, show(values[n - 1])), ' ',
      n > 1 ? change(values[n - 1], values[n - 2], show, 'the run before') : ''), g, el('p', { class: 'hint' }, `${plural(n, 'run')}, ${show(least)} to ${show(most)}`));
  }));
}

facts();
timelines();
findings();
flames();
types();
leaks();
spread();
trends();

// What is drawn in pixels follows the width, the theme and the paper.
let drawn = document.body.clientWidth;
const redraw = () => { timeline(); draw(); spread(); };
addEventListener('resize', () => { if (document.body.clientWidth !== drawn) drawn = document.body.clientWidth, redraw(); });
addEventListener('beforeprint', redraw);
addEventListener('afterprint', redraw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
