// Gives memory back once a thread comes to rest after work. memory.ts preloads it into every process and thread of the service.
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often a thread looks back. */
const lookMs = 2_000;
/** A thread that worked for less of the time since its last look is at rest. */
const restUtilization = 0.03;
/** After so many looks in a row without work memory is given back; the next look frees what the first collection could only move. */
const collectAtLook = 2;
/** Growth since the last collection that is worth the pause of another one. */
const worthBytes = 8 * 2 ** 20;

type Collect = (options: { type: 'major'; execution: 'sync' }) => void;

// V8 collects under pressure of allocation only: without requests, what the last ones left behind stays, hundreds of MiB after large ones.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

let before = performance.eventLoopUtilization();
let quietLooks = 0;
let keptBytes = 0;
let isWorthIt = false;

setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, before);
  before = now;
  quietLooks = utilization < restUtilization ? quietLooks + 1 : 0;
  if (quietLooks === collectAtLook) isWorthIt = heldBytes() > keptBytes + worthBytes;
  if (!isWorthIt || quietLooks < collectAtLook || quietLooks > collectAtLook + 1) return;
  collect({ type: 'major', execution: 'sync' });
  keptBytes = heldBytes();
}, lookMs).unref();

/** What this thread holds: its heap with the free room in it, and its buffers. */
function heldBytes(): number {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}
