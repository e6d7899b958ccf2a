// SPDX-License-Identifier: BSD-2-Clause
const picture = document.documentElement, made = 1200;
const boxes = [...document.querySelectorAll('g.box')].map(g => ({g,
  title: g.querySelector('title').textContent, rect: g.querySelector('rect'),
  text: g.querySelector('text'), depth: +g.dataset.depth,
  x: +g.querySelector('rect').getAttribute('x'),
  width: +g.querySelector('rect').getAttribute('width')}));
let full = made, shown = boxes[0];
function middle(name, room) {
  const all = [...name];
  if (all.length <= room) return name;
  const tail = Math.floor((room - 1) * 0.55);
  return room < 3 ? '' : all.slice(0, room - 1 - tail).join('') + '\u2026' + all.slice(all.length - tail).join('');
}
function place(part) {
  shown = part;
  for (const b of boxes) {
    const around = b.depth < shown.depth;
    const inside = b.x + b.width > shown.x + 1e-6 && b.x < shown.x + shown.width - 1e-6;
    b.g.style.display = inside ? '' : 'none';
    const left = around ? 0 : (b.x - shown.x) * full / shown.width;
    const width = around ? full : b.width * full / shown.width;
    b.rect.setAttribute('x', left); b.rect.setAttribute('width', Math.max(0, width));
    b.g.classList.toggle('around', around);
    const letters = Math.floor((width - 6) / 7), name = b.title.replace(/ \([^(]*\)$/, '');
    b.text.setAttribute('x', left + 3);
    b.text.textContent = letters < 2 ? '' : middle(name, letters);
  }
  document.getElementById('shown').textContent = shown.title;
}
function find(wanted) {
  let test = () => false;
  try { const e = new RegExp(wanted); if (wanted) test = t => e.test(t); }
  catch { if (wanted) test = t => t.includes(wanted); }
  let marked = 0;
  for (const b of boxes) {
    const hit = b !== boxes[0] && test(b.title); marked += hit;
    b.g.classList.toggle('found', hit);
  }
  document.getElementById('found').textContent = wanted ? marked + ' found' : 'search';
  return marked;
}
// The boxes take the width of the window; letters keep their size.
function fit() {
  full = Math.max(300, Math.floor(window.visualViewport?.width || window.innerWidth || made));
  const height = picture.getAttribute('height');
  picture.setAttribute('width', full); picture.setAttribute('viewBox', `0 0 ${full} ${height}`);
  document.getElementById('reset').setAttribute('x', full - 140);
  document.getElementById('found').setAttribute('x', full - 80);
  place(shown);
}
const ask = () => find(prompt('Search for a name or a regular expression', '') || '');
const reset = () => { find(''); place(boxes[0]); };
for (const b of boxes) b.g.addEventListener('click', () => place(b));
document.getElementById('found').addEventListener('click', ask);
document.getElementById('reset').addEventListener('click', reset);
window.addEventListener('resize', fit);
window.addEventListener('keydown', e => {
  if (e.key === 'Escape') reset();
  if (e.key === '/') { e.preventDefault(); ask(); }
});
fit();
fit(); // a scroll bar may have come
