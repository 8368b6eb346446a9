// Reports about records that no appliance wrote, kept until a serving process has recorded them: the follower cannot seal.
import { describeKey } from '../../../core/store/tables.ts';
import type { ForeignWrite } from '../../../core/cluster/marks/foreign-writes.ts';
import type { ForeignReport } from '../cluster-way.ts';

/** Keys of records in one report. */
const mostNamed = 5;
/** Interval of a shared report: the holder of a key for etcd can write such records without end. */
const againMs = 10_000;

export class ForeignReports {
  readonly #record: (report: ForeignReport) => Promise<boolean>;
  readonly #againMs: number;
  #waiting: ForeignReport | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRecording = false;
  #isOver = false;

  /** `record`: tells whether it was put on record; called again until it was, also for later records. */
  constructor(record: (report: ForeignReport) => Promise<boolean>, everyMs = againMs) {
    this.#record = record;
    this.#againMs = everyMs;
  }

  add({ revision, records }: ForeignWrite): void {
    const named = records.slice(0, mostNamed).map(describeKey);
    this.#waiting = joined(this.#waiting, { first: revision, last: revision, records: records.length, named });
    if (this.#timer === undefined) void this.#tell();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #tell(): Promise<void> {
    const report = this.#waiting;
    if (report === undefined || this.#isRecording) return;
    this.#waiting = undefined;
    this.#isRecording = true;
    const isRecorded = await this.#record(report).catch(() => false);
    this.#isRecording = false;
    if (!isRecorded) this.#waiting = joined(report, this.#waiting);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#tell();
    }, this.#againMs).unref();
  }
}

function joined(earlier: ForeignReport | undefined, later: ForeignReport): ForeignReport;
function joined(earlier: ForeignReport, later: ForeignReport | undefined): ForeignReport;
function joined(earlier: ForeignReport | undefined, later: ForeignReport | undefined): ForeignReport | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later;
  return {
    ...{ first: earlier.first, last: later.last, records: earlier.records + later.records },
    named: [...earlier.named, ...later.named].slice(0, mostNamed),
  };
}
