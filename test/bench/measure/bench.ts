// What every part of the benchmark is given, and the lengths of its turns.
import { availableParallelism } from 'node:os';
import type { PartName, Parts } from '../../../appliance/docs/performance/figures.ts';

/** Lengths come from the part, so that each has a duration known before; `BENCH_ROUNDS` and `BENCH_SECONDS` change them. */
export type Bench = {
  /** scratch, on the file system that data directories are on; each part has its own */
  readonly directory: string;
  /** counted rounds */
  readonly rounds: number;
  /** of one turn */
  readonly seconds: number;
  /** path of OpenBao's program; undefined leaves it out */
  readonly openBao: string | undefined;
};

/** One part: what it measures, and its name in the figures. */
export type Part<Name extends PartName> = {
  readonly measures: string;
  /** runs only when it is named */
  readonly onRequest?: true;
  /** at most, on a machine that does nothing else: for the promise at the start and the limit behind it */
  readonly seconds: (lengths: Pick<Bench, 'rounds' | 'seconds' | 'openBao'>) => number;
  readonly run: (bench: Bench) => Promise<Parts[Name]>;
  /** what people read while it runs */
  readonly format: (figures: Parts[Name]) => readonly string[];
};

/** Workers of an appliance that has the machine. */
export const allWorkers = availableParallelism();

/** Payload of all requests: 64 octets, base64. */
export const payload = Buffer.alloc(64, 7).toString('base64');
