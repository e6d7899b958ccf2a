// SPDX-License-Identifier: BSD-2-Clause
// Makes Buffers through known chains of functions. The size of a Buffer tells which chain made it:
// 100000 + its number. Prints the chains as JSON.
'use strict';
const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
const made = { count: 0 };
let seed = 1;

function random(below) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % below;
}

function make(size) {
  made.count += Buffer.allocUnsafeSlow(size).length > 0 ? 1 : 0;
}

// Each calls the next of its chain; the last one makes the Buffer.
const functions = names.map((name) => new Function('make', 'made', 'functions', `
  return function ${name}(chain, at, size) {
    if (at === chain.length) make(size);
    else functions()[chain[at]](chain, at + 1, size);
    made.count += 0;
  };`)(make, made, () => functions));

const chains = [];
for (let number = 0; number < 100; number++) {
  const chain = [];
  for (let left = 1 + random(9); left > 0; left--) chain.push(random(names.length));
  chains.push(chain);
}
const rounds = Number(process.argv[2]);
for (let round = 0; round < rounds; round++) {
  const number = random(chains.length);
  functions[chains[number][0]](chains[number], 1, 100000 + number);
}
console.log(JSON.stringify({ made: made.count, chains: chains.map((chain) => chain.map((index) => names[index])) }));
