// Bounds the memory of a thread under load, and frees it when the thread becomes idle. memory.ts preloads this file into every process and
// thread of the service.
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Interval at which a thread checks its load. */
const lookMs = 2_000;
/** Below this share of working time since the last check a thread is idle. */
const restUtilization = 0.03;
/** Memory is collected after this many idle checks in a row. */
const collectAtLook = 2;
/** Growth since the last collection that justifies the pause of another one. */
const worthBytes = 8 * 2 ** 20;

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

// Garbage may take as much of the old generation as live objects. V8 itself lets a busy heap grow to four times that.
setFlagsFromString('--heap-growing-percent=100');

// V8 collects only when it allocates: an idle process would keep the garbage of its last requests, hundreds of MiB after large ones.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

let before = performance.eventLoopUtilization();
let quietLooks = 0;
let keptBytes = 0;

setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, before);
  before = now;
  quietLooks = utilization < restUtilization ? quietLooks + 1 : 0;
  if (quietLooks !== collectAtLook || heldBytes() <= keptBytes + worthBytes) return;
  // A regular collection moves little, so that pages with few living objects stay, and keeps free pages for later.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  keptBytes = heldBytes();
}, lookMs).unref();

/** The memory of this thread: its heap, including free space, and its buffers. */
function heldBytes(): number {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}
