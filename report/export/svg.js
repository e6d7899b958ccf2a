// SPDX-License-Identifier: BSD-2-Clause
const boxes = [...document.querySelectorAll('g.box')].map(g => ({g,
  title: g.querySelector('title').textContent, rect: g.querySelector('rect'),
  text: g.querySelector('text'), depth: +g.dataset.depth,
  x: +g.querySelector('rect').getAttribute('x'),
  width: +g.querySelector('rect').getAttribute('width')}));
const full = 1200;
function place(shown) {
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
    b.text.textContent = letters < 2 ? '' :
      name.length <= letters ? name : name.slice(0, letters - 1) + '\u2026';
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
for (const b of boxes) b.g.addEventListener('click', () => place(b));
document.getElementById('found').addEventListener('click', () =>
  find(prompt('Search for a name or a regular expression', '') || ''));
document.getElementById('reset').addEventListener('click', () => { find(''); place(boxes[0]); });
place(boxes[0]);
